// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the installed Coz viewer's own code on a profile, without a browser.
// usage: node coz_viewer.js VIEWER/js/profile.js PROFILE
// Prints what coz_viewer.py prints; fails if the viewer warns about the profile.
'use strict';
const fs = require('fs');
const vm = require('vm');

const [viewer, input] = process.argv.slice(2);
const warnings = [];
const context = vm.createContext({
	text: fs.readFileSync(input, 'utf8'),
	warn: (title, message) => warnings.push(title + ': ' + message),
	d3: new Proxy(function () {}, { get: (target, name, self) => self, apply: (target, self) => self }),
	science: {},
	console,
});
vm.runInContext(fs.readFileSync(viewer, 'utf8'), context, { filename: viewer });
const curves = vm.runInContext('new Profile(text, null, null, () => 1, warn).getSpeedupData(1)', context);
const lines = [];
for (const target of curves)
	for (const point of target.progress_points)
		for (const m of point.measurements)
			lines.push([target.name, point.name, m.speedup.toFixed(6), m.progress_speedup.toFixed(9)].join('\t'));
console.log(lines.sort().join('\n'));
for (const warning of warnings)
	console.error(warning);
process.exit(warnings.length ? 1 : 0);
