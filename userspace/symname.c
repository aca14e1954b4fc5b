// SPDX-License-Identifier: GPL-2.0-or-later
#include "symname.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

static const char *const clone_words[] = {
	"cold", "part", "constprop", "isra", "lto_priv", "localalias", "llvm", "warm", "hot", "ipa-cp", "__uniq",
};

static bool is_clone_word(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(clone_words) / sizeof(*clone_words); i++) {
		if (strlen(clone_words[i]) == len && !memcmp(clone_words[i], word, len))
			return true;
	}
	return false;
}

static bool is_number(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)word[i]))
			return false;
	}
	return len > 0;
}

/*
 * How much of @raw is the function's own name: up to the version ('@') and the trailing words of
 * clones. A number belongs to a clone only behind its word, since "main.func1.2" is Go's way to
 * name closures.
 */
static size_t own_length(const char *raw)
{
	size_t len = strcspn(raw, "@"), end = len;

	if (!len)
		return strlen(raw);
	for (;;) {
		size_t word = end;

		while (word > 0 && raw[word - 1] != '.')
			word--;
		if (word < 2)
			return len;
		if (is_clone_word(raw + word, end - word))
			len = word - 1;
		else if (!is_number(raw + word, end - word))
			return len;
		end = word - 1;
	}
}

/* Rust's older mangling ends in "::h" and 16 digits of a hash, which tells a person nothing. */
static void cut_rust_hash(char *name)
{
	size_t len = strlen(name);

	if (len <= 19 || strncmp(name + len - 19, "::h", 3))
		return;
	for (size_t i = len - 16; i < len; i++) {
		if (!isxdigit((unsigned char)name[i]))
			return;
	}
	name[len - 19] = '\0';
}

char *cozk_symbol_display(const char *raw)
{
	char *name = strndup(raw, own_length(raw)), *demangled = NULL;

	if (!name)
		return NULL;
	if (name[0] == '_')
		demangled = cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	if (demangled) {
		free(name);
		cut_rust_hash(demangled);
		return demangled;
	}
	return name;
}

/* Where the parameter list of a demangled name begins: the '(' that pairs with the last ')'. */
static size_t params_at(const char *display)
{
	const char *close = strrchr(display, ')');
	int depth = 0;

	for (const char *p = close; p && p >= display; p--) {
		if (*p == ')')
			depth++;
		else if (*p == '(' && !--depth)
			return p - display;
	}
	return strlen(display);
}

bool cozk_symbol_matches(const char *raw, const char *display, const char *name)
{
	size_t params;

	if (!strcmp(raw, name) || !strcmp(display, name))
		return true;
	params = params_at(display);
	if (params && strlen(name) == params && !memcmp(display, name, params))
		return true;
	/* A template's name starts with its return type: "int f<int>(int)". */
	return params > strlen(name) && display[params - strlen(name) - 1] == ' ' &&
	       !memcmp(display + params - strlen(name), name, strlen(name));
}

void cozk_symbol_key(const char *name, char *buf, size_t len)
{
	/* Mangling has short forms for these, so they need not occur in the mangled name. */
	static const char *const abbreviated[] = { "std",	    "allocator",     "basic_string",
						   "string",	    "basic_istream", "istream",
						   "basic_ostream", "ostream",	     "basic_iostream",
						   "iostream" };
	const char *best = name, *p = name;
	size_t best_len = 0;

	buf[0] = '\0';
	if (strstr(name, "operator") || strpbrk(name, "~{[' "))
		return;
	/*
	 * Only the last identifier before parameters and template arguments is sure to be written
	 * out.
	 */
	while (*p && *p != '(' && *p != '<') {
		size_t n = 0;

		while (isalnum((unsigned char)p[n]) || p[n] == '_')
			n++;
		if (n) {
			best = p;
			best_len = n;
		}
		p += n ? n : 1;
	}
	for (size_t i = 0; i < sizeof(abbreviated) / sizeof(*abbreviated); i++) {
		if (strlen(abbreviated[i]) == best_len && !memcmp(abbreviated[i], best, best_len))
			return;
	}
	if (best_len + 1 > len)
		best_len = len - 1;
	memcpy(buf, best, best_len);
	buf[best_len] = '\0';
}
