// Runs before anything is drawn, so that a page in the chosen theme and density does not flash in another one.
import { densityKey, themeKey } from './storage-keys.ts'

const root = document.documentElement.dataset
const read = (key: string): string | null => {
  try {
    return localStorage.getItem(key)
  } catch {
    // Storage is disabled.
    return null
  }
}

const theme = read(themeKey)
if (theme === 'light' || theme === 'dark') root.theme = theme

const isPhone = matchMedia('(max-width: 520px)').matches
if (isPhone && root.density !== undefined) root.density = 'rows'
root.usualDensity = root.density ?? ''
for (const density of [read(densityKey), new URLSearchParams(location.search).get('density')])
  if (density === 'rows' || density === 'cards') root.density = density
