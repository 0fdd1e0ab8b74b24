import { expect, it } from 'vitest'
import { freePort } from './run-tool.ts'

it('gives no port twice, and none of those that another worker gives', async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, freePort))
  expect(new Set(ports).size).toBe(ports.length)
  expect(new Set(ports.map((port) => port % 16))).toEqual(new Set([Number(process.env.VITEST_POOL_ID) % 16]))
  expect(Math.min(...ports)).toBeGreaterThan(10_080)
  expect(Math.max(...ports)).toBeLessThan(32_768)
})
