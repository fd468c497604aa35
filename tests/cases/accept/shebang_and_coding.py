#!/usr/bin/env python3
# -*- coding: utf-8 -*-
# Licence: whatever; größe is a name.

# dlb: parallel, BLOCK
for größe in range(4):
    pass
