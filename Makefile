# SPDX-License-Identifier: GPL-2.0-or-later
# The front door. Nothing is written outside build/.
#
#   make                 everything that needs no kernel: program, library, workloads
#   make module          cozk.ko for the running kernel (KDIR=... for another)
#   make check           all tests (scripts/check does that too, after installing what it needs)
#   make install         to PREFIX (/usr/local), DESTDIR honoured

PREFIX ?= /usr/local
KDIR ?= /lib/modules/$(shell uname -r)/build
CC ?= gcc
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra
VERSION := $(shell cat VERSION)
B := build

CPPFLAGS_COZK := -D_GNU_SOURCE -DCOZK_VERSION='"$(VERSION)"' -DCOZK_LIBDIR='"$(PREFIX)/lib/cozk"' \
		 -Iinclude/uapi -Iuserspace $(shell pkg-config --cflags libdw libelf jansson libnl-genl-3.0)
LIBS_COZK := $(shell pkg-config --libs libdw libelf jansson libnl-genl-3.0 zlib) -lpfm -liberty -lstdc++ -lm -lpthread

all: userspace lib workloads

# ---- the program
SOURCES := $(wildcard userspace/*.c)
OBJECTS := $(SOURCES:%.c=$(B)/obj/%.o)

userspace: $(B)/bin/cozk

$(B)/bin/cozk: $(OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_COZK)

$(B)/obj/userspace/%.o: userspace/%.c Makefile VERSION
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) $(WARN) $(CPPFLAGS_COZK) -MMD -MP -c -o $@ $<

-include $(OBJECTS:.o=.d)

# ---- the module
module:
	scripts/build-module $(KDIR) W=1

include libcoz-lite/build.mk
include tests/build.mk

clean:
	rm -rf $(B)/obj $(B)/bin $(B)/lib $(B)/tests $(B)/workloads $(B)/module

.PHONY: all userspace module clean
