import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from './run-tool.ts'

it('gives no port twice, and none of those that another process gives', async () => {
  const program = `
    const { freePort } = await import(${JSON.stringify(import.meta.resolve('./run-tool.ts'))})
    process.stdout.write(JSON.stringify(await Promise.all(Array.from({ length: 200 }, freePort))))
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  const [others] = (await once(child.stdout, 'data')) as [Buffer]
  const ports = [...(JSON.parse(String(others)) as number[]), ...(await Promise.all(Array.from({ length: 200 }, freePort)))]
  expect(new Set(ports).size).toBe(400)
  expect(Math.min(...ports)).toBeGreaterThan(10_080)
  expect(Math.max(...ports)).toBeLessThan(32_768)
})
