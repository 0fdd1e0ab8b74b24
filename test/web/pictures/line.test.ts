import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { drawLine } from '../../../src/web/pictures/line.ts'
import { hasFont } from '../../helpers/require-tool.ts'

const style = { size: 20, color: '#ffffff' }
const draw = (text: string, maxWidth = 300) => drawLine([{ ...style, text }], 10, 40, maxWidth)

/** For each column of a drawn text, whether it has ink. */
async function columnsOf(drawn: string): Promise<readonly boolean[]> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="60">${drawn}</svg>`
  const { data, info } = await sharp(Buffer.from(svg)).raw().toBuffer({ resolveWithObject: true })
  return Array.from({ length: info.width }, (_, x) =>
    Array.from({ length: info.height }, (_, y) => data[(y * info.width + x) * info.channels + 3] ?? 0).some(
      (alpha) => alpha > 60,
    ),
  )
}

describe('a line of text', () => {
  it.each(['Survival', 'Überleben – Ελλάδα', 'Выживание ★'])('is drawn in the bundled font: %s', async (text) => {
    expect(await draw(text)).toMatch(/^<g .*<path/)
  })

  it('needs no other font for a character with a variation selector, which is not drawn', async () => {
    expect(await draw('\u2764\ufe0f x')).toBe(await draw('\u2764 x'))
  })

  it
    .skipIf(!['zh-cn', 'ja', 'ko', 'he', 'ar'].every(hasFont))
    .each(['生存服务器', 'サバイバル', '서바이벌 서버', 'שרת הישרדות', 'خادم البقاء', '<b>生存</b> & "x"'])(
    'is drawn in an installed font: %s',
    async (text) => {
      const drawn = await draw(text)
      expect(drawn).toMatch(/^<image [^<>]+\/>$/)
      const columns = await columnsOf(drawn)
      const [first, last] = [columns.indexOf(true), columns.lastIndexOf(true)]
      expect(first).toBeGreaterThanOrEqual(9)
      expect(first).toBeLessThan(16)
      expect(last - first).toBeGreaterThan(60)
    },
  )

  it.skipIf(!hasFont('he'))('is in the order of its script', async () => {
    // The narrow letters are read first, and are therefore on the right.
    const columns = await columnsOf(await draw('וווווו שששש'))
    const [first, last] = [columns.indexOf(true), columns.lastIndexOf(true)]
    const widest = (part: readonly boolean[]) =>
      Math.max(
        ...part
          .map(String)
          .join('')
          .split('false')
          .map((run) => run.length / 4),
      )
    const middle = (first + last) >> 1
    expect(widest(columns.slice(first, middle))).toBeGreaterThan(widest(columns.slice(last - 25, last + 1)))
  })

  it.skipIf(!hasFont('zh-cn'))('is cut to its width', async () => {
    const columns = await columnsOf(await draw('生存服务器'.repeat(60), 120))
    expect(columns.lastIndexOf(true)).toBeLessThan(132)
    expect(columns.lastIndexOf(true)).toBeGreaterThan(90)
  })

  it('has an ellipsis in place of letters that no font has', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fonts-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'fonts.conf')
    writeFileSync(file, '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig/>')
    const path = join(import.meta.dirname, '..', '..', '..', 'dist', 'src', 'web', 'pictures', 'line.js')
    const script = `
      const { drawLine } = await import(${JSON.stringify(path)})
      const draw = (text) => drawLine([{ size: 20, color: '#ffffff', text }], 0, 20, 300)
      const pairs = [['生存服务器 x', '… x'], ['🎮Fun', 'Fun'], ['เซิร์ฟเวอร์', '…'], ['שלום abc', '… abc'], ['سلام', '…']]
      const same = []
      for (const [text, shown] of pairs) same.push(await draw(text) === await draw(shown))
      console.log(JSON.stringify(same))`
    const env = { ...process.env, FONTCONFIG_FILE: file }
    expect(JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' }))).toEqual(
      Array(5).fill(true),
    )
  })
})
