export const themeNames = ['dark', 'light'] as const
export type ThemeName = (typeof themeNames)[number]

export interface Theme {
  readonly background: string
  readonly border: string
  readonly text: string
  readonly muted: string
  readonly up: string
  readonly warning: string
  readonly down: string
  readonly lines: readonly string[]
}

export const themes: Readonly<Record<ThemeName, Theme>> = {
  dark: {
    background: '#1b2028',
    border: '#39424f',
    text: '#f3f5f8',
    muted: '#a9b4c2',
    up: '#4cc38a',
    warning: '#f0b429',
    down: '#f2686f',
    lines: ['#5aa9f5', '#f0b429', '#4cc38a', '#c58af9', '#f2686f'],
  },
  light: {
    background: '#ffffff',
    border: '#cfd6df',
    text: '#16202c',
    muted: '#55606e',
    up: '#18794e',
    warning: '#8a5a00',
    down: '#c1272d',
    lines: ['#1a6fc4', '#9a6200', '#18794e', '#7b3fc4', '#c1272d'],
  },
}

/** The 16 colours of the game by their code (https://minecraft.wiki/w/Formatting_codes). */
export const gameColors: Readonly<Record<string, string>> = {
  '0': '#000000',
  '1': '#0000aa',
  '2': '#00aa00',
  '3': '#00aaaa',
  '4': '#aa0000',
  '5': '#aa00aa',
  '6': '#ffaa00',
  '7': '#aaaaaa',
  '8': '#555555',
  '9': '#5555ff',
  a: '#55ff55',
  b: '#55ffff',
  c: '#ff5555',
  d: '#ff55ff',
  e: '#ffff55',
  f: '#ffffff',
}

const parts = (color: string): readonly number[] => [1, 3, 5].map((from) => Number.parseInt(color.slice(from, from + 2), 16))

/** Relative luminance, WCAG 2. */
function luminance(rgb: readonly number[]): number {
  const [r = 0, g = 0, b = 0] = rgb.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const minContrast = 4.5

/** The colour, mixed with that of the text until it is readable on the background. */
export function readable(color: string, { background, text }: Pick<Theme, 'background' | 'text'>): string {
  const [ground, target] = [luminance(parts(background)), parts(text)]
  const contrast = (rgb: readonly number[]) => {
    const [low, high] = [luminance(rgb), ground].sort((a, b) => a - b)
    return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05)
  }
  let mixed = parts(color)
  for (let share = 0.05; contrast(mixed) < minContrast && share <= 1; share += 0.05) {
    mixed = parts(color).map((value, index) => Math.round(value + ((target[index] ?? 0) - value) * share))
  }
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}
