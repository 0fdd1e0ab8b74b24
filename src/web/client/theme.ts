// Runs before anything is drawn, so that a page in the chosen theme does not flash in the other one.
import { themeKey } from './theme-key.ts'

try {
  const theme = localStorage.getItem(themeKey)
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage is disabled.
}
