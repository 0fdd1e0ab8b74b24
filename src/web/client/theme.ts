// Runs before anything is drawn, so that a page in the chosen theme and density does not flash in another one.
import { storedChoice } from './storage.ts'

const root = document.documentElement.dataset
const theme = storedChoice('tickwarden-theme')
if (theme === 'light' || theme === 'dark') root.theme = theme

const isPhone = matchMedia('(max-width: 32.5em)').matches
if (isPhone && root.density !== undefined) root.density = 'rows'
root.usualDensity = root.density ?? ''
for (const density of [storedChoice('tickwarden-density'), new URLSearchParams(location.search).get('density')])
  if (density === 'rows' || density === 'cards') root.density = density
