// Ends the process with one line if Node.js is too old to load the rest of the code. Only syntax and functions of Node.js 12.
import { readFileSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const [major, minor] = engines.node.match(/\d+/g).map(Number)
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  const own = `${process.execPath} is Node.js ${process.versions.node}`
  console.error(`Tickwarden needs Node.js ${major}.${minor} or later, but ${own}; install a newer one from https://nodejs.org`)
  process.exit(1)
}
