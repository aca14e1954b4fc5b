# SPDX-License-Identifier: GPL-2.0-or-later
# ---- libcoz-lite
LIB := $(B)/lib/libcoz-lite.so.0

lib: $(LIB) $(B)/lib/libcoz-lite.so $(B)/lib/libcoz-lite.a $(B)/lib/pkgconfig/libcoz-lite.pc

$(B)/obj/libcoz-lite/coz_lite.o: libcoz-lite/coz_lite.c libcoz-lite/cozk.h include/uapi/cozk.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g -fPIC -fvisibility=hidden $(WARN) -Iinclude -c -o $@ $<

$(LIB): $(B)/obj/libcoz-lite/coz_lite.o libcoz-lite/libcoz-lite.map
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,libcoz-lite.so.0 -Wl,-z,defs \
		-Wl,--version-script=libcoz-lite/libcoz-lite.map -o $@ $<

$(B)/lib/libcoz-lite.so: $(LIB)
	ln -sf libcoz-lite.so.0 $@

$(B)/lib/libcoz-lite.a: $(B)/obj/libcoz-lite/coz_lite.o
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $<

$(B)/lib/pkgconfig/libcoz-lite.pc: libcoz-lite/libcoz-lite.pc.in VERSION
	@mkdir -p $(@D)
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(PREFIX)/lib|; s|@INCLUDEDIR@|$(PREFIX)/include|' \
		-e 's|@VERSION@|$(VERSION)|' $< > $@

.PHONY: lib
