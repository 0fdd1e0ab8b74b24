import { setImmediate as nextTurn } from 'node:timers/promises'
import sharp from 'sharp'
import { drawChart } from './chart.ts'
import { warmFonts } from './font.ts'
import { themes } from './theme.ts'

/** @returns the SVG as PNG; rendered in a thread pool */
export const toPng = (svg: string): Promise<Buffer> =>
  sharp(Buffer.from(svg)).timeout({ seconds: 5 }).png({ compressionLevel: 7 }).toBuffer()

async function warm(): Promise<void> {
  await warmFonts()
  await nextTurn()
  const players = { min: [0, null], mean: [1, null], max: [2, null] }
  const values = { from: 0, to: 7_200_000, step: 3_600_000, series: { players } }
  const chart = drawChart({ server: '', values, width: 200, height: 100, theme: themes.dark })
  await nextTurn()
  // If it fails here, the first picture reports it; an unhandled rejection would end the process.
  await toPng(chart).catch(() => undefined)
}

let warmed: Promise<void> | undefined

/**
 * Loads everything that the first picture needs in small steps, once per process: fonts, compiled functions and the renderer. In
 * one step it would block the event loop for some 80 ms.
 */
export function warmPictures(): Promise<void> {
  warmed ??= warm()
  return warmed
}
