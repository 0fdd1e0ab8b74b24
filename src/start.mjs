#!/usr/bin/env node
// The command `tickwarden`. Checked here too, because the service may not have been built.
import './check-node.mjs'

import('../dist/src/main.js')
