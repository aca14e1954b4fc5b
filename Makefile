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

# ---- install
DEST := $(DESTDIR)$(PREFIX)

install: userspace lib
	install -d $(DEST)/bin $(DEST)/lib/pkgconfig $(DEST)/include $(DEST)/lib/cozk/lab $(DEST)/lib/cozk/scripts \
		$(DEST)/share/man/man1 $(DEST)/share/man/man3 $(DESTDIR)/etc/udev/rules.d
	install -m 755 $(B)/bin/cozk $(DEST)/bin
	install -m 755 $(B)/lib/libcoz-lite.so.0 $(DEST)/lib
	ln -sf libcoz-lite.so.0 $(DEST)/lib/libcoz-lite.so
	install -m 644 $(B)/lib/libcoz-lite.a $(DEST)/lib
	install -m 644 $(B)/lib/pkgconfig/libcoz-lite.pc $(DEST)/lib/pkgconfig
	install -m 644 libcoz-lite/cozk.h $(DEST)/include
	install -m 755 lab/boot lab/init lab/run $(DEST)/lib/cozk/lab
	install -m 644 lab/*.sh $(DEST)/lib/cozk/lab
	install -m 755 scripts/kernels $(DEST)/lib/cozk/scripts
	install -m 644 docs/man/*.1 $(DEST)/share/man/man1
	install -m 644 docs/man/*.3 $(DEST)/share/man/man3
	install -m 644 udev/99-cozk.rules $(DESTDIR)/etc/udev/rules.d

# The module goes where modprobe finds it, for the kernel of KDIR.
module-install: module
	$(MAKE) -C $(KDIR) M=$(CURDIR)/$(B)/module/$(shell uname -r) modules_install
	depmod -a

clean:
	rm -rf $(B)/obj $(B)/bin $(B)/lib $(B)/tests $(B)/workloads $(B)/module

.PHONY: all userspace module install module-install clean
