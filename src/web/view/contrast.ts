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

/** The colours of a place, as `#rrggbb`. */
export interface Ground {
  readonly background: string
  readonly text: string
}

/** The colour, mixed with that of the text until it is readable on the background. */
export function readable(color: string, { background, text }: Ground): string {
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
