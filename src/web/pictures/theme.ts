import type { Ground } from '../view/contrast.ts'

export const themeNames = ['dark', 'light'] as const
export type ThemeName = (typeof themeNames)[number]

export interface Theme extends Ground {
  readonly border: string
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
