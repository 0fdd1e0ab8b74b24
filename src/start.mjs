#!/usr/bin/env node
// The command `tickwarden`. A static import of the service would be loaded before the check.
import './check-node.mjs'

import('../dist/src/main.js')
