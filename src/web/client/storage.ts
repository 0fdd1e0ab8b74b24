/** What the reader has chosen, in localStorage by its name. A browser that has disabled it keeps a choice only on this page. */
type Choice = 'tickwarden-theme' | 'tickwarden-density'

export function storedChoice(name: Choice): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

export function storeChoice(name: Choice, value: string): void {
  try {
    localStorage.setItem(name, value)
  } catch {}
}
