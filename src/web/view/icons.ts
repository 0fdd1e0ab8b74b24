import { h, type ViewElement } from './node.ts'

/** Rows of 16 pixels of a watchtower: the mark of the page, as the default icon of a server. */
const tower = [
  [
    '#5b6b80',
    'M2 1h1v1h2v-1h2v1h2v-1h2v1h2v-1h1v2h-12zM2 3h1v1h-1zM13 3h1v1h-1zM3 4h1v5h-1zM12 4h1v5h-1zM4 9h1v5h-1zM11 9h1v5h-1zM2 14h3v1h-3zM11 14h3v1h-3z',
  ],
  ['#9fb0c6', 'M3 3h10v1h-10zM4 4h8v5h-8zM5 9h6v6h-6z'],
  ['#facc15', 'M7 4h2v3h-2z'],
  ['#4d7c0f', 'M1 15h14v1h-14z'],
] as const

/** The icons of the tab, with the colour of their dots: none while all is known and nothing needs to be done. */
const dots = { icon: undefined, 'icon-alert': '#e5484d', 'icon-unknown': '#8b98a9' } as const
export type IconName = keyof typeof dots
export const iconNames = Object.keys(dots) as readonly IconName[]

/** The mark of the service as an SVG document. @param picture data: URL of another mark */
export function faviconSvg(name: IconName, picture?: string): string {
  const color = dots[name]
  const dot = color === undefined ? '' : `<circle cx="12" cy="4" r="4" fill="${color}" stroke="#fff" stroke-width="1"/>`
  const paths =
    picture === undefined
      ? tower.map(([fill, d]) => `<path fill="${fill}" d="${d}"/>`).join('')
      : `<image width="16" height="16" href="${picture}"/>`
  const shown = name === 'icon-unknown' ? `<g opacity=".5">${paths}</g>` : paths
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" shape-rendering="crispEdges">${shown}<g shape-rendering="auto">${dot}</g></svg>`
}

/** @param src of another one */
export const viewLogo = (src?: string): ViewElement =>
  src === undefined ? viewTower() : h('img', { class: 'logo', src, width: 28, height: 28, alt: '' })

const viewTower = (): ViewElement =>
  h(
    'svg',
    { class: 'logo', viewBox: '0 0 16 16', width: 28, height: 28, 'aria-hidden': 'true', 'shape-rendering': 'crispEdges' },
    tower.map(([fill, d]) => h('path', { fill, d })),
  )
