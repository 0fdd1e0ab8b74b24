#!/usr/bin/env -S node --v8-pool-size=1
// The command `tickwarden`. Checked here too, because the service may not have been built.
import './check-node.mjs'

import('../dist/src/main.js')
