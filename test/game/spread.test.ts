import { expect, it } from 'vitest'
import { placeOf } from '../../src/game/spread.ts'

it('is the same for the same name on every machine', () => {
  const places = [placeOf('survival'), placeOf('lobby'), placeOf('')].map((place) => place.toFixed(6))
  expect(places).toEqual(['0.285859', '0.451141', '0.668922'])
})

it('spreads names evenly, also those that differ only in a number', () => {
  for (const prefix of ['s', 'lobby-', 'a.very.long.name.of.a.server.example.org-']) {
    const counts = Array.from({ length: 20 }, () => 0)
    for (let index = 0; index < 10_000; index++) counts[Math.floor(placeOf(`${prefix}${index}`) * 20)]!++
    expect(Math.min(...counts)).toBeGreaterThan(400)
    expect(Math.max(...counts)).toBeLessThan(600)
  }
})
