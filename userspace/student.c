// SPDX-License-Identifier: GPL-2.0-or-later
#include "student.h"

#include <math.h>

/*
 * Continued fraction of the incomplete beta function, by Lentz's method; converges fast for
 * x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300, enough = 1e-15;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m < 1000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < enough)
			break;
	}
	return h;
}

/* Regularised incomplete beta function I_x(a, b). */
static double beta_incomplete(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double cozk_student_two_sided(double t, double df)
{
	/* beyond this the two distributions agree to more digits than any interval has */
	const double normal_df = 1e6;

	if (isnan(t) || isnan(df))
		return NAN;
	if (df > normal_df)
		return erfc(fabs(t) / sqrt(2));
	return beta_incomplete(df / 2, 0.5, df / (df + t * t));
}

double cozk_student_critical(double p, double df)
{
	double low = 0, high = 1;

	if (isnan(df))
		return NAN;
	while (cozk_student_two_sided(high, df) > p && high < 1e150)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double middle = (low + high) / 2;

		if (cozk_student_two_sided(middle, df) > p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}
