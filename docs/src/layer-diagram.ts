import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** Omitted because almost everything imports them. */
const everywhere = new Set(['src/config'])

const importing = /^\s*(?:import|export)\s+(?!type\b)[^'"]*?from\s*'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'\s*\)/gm

const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path))

/** The folder of a file, or the file itself if it is one of the two that assemble the service. */
function partOf(file: string): string | undefined {
  if (file === 'src/main.ts' || file === 'src/app.ts') return file
  const [top = '', folder = '', ...rest] = file.split('/')
  if (top === 'exporter') return top
  return rest.length === 0 || everywhere.has(`${top}/${folder}`) ? undefined : `${top}/${folder}`
}

type Edges = ReadonlyMap<string, ReadonlySet<string>>

function importGraph(): Edges {
  const edges = new Map<string, Set<string>>()
  for (const file of [...filesIn('src'), ...filesIn('exporter')]) {
    const from = partOf(file)
    if (from === undefined) continue
    for (const [, of, dynamic] of readFileSync(join(root, file), 'utf8').matchAll(importing)) {
      const to = partOf(relative(root, resolve(root, dirname(file), of ?? dynamic ?? '')))
      if (to !== undefined && to !== from) edges.set(from, (edges.get(from) ?? new Set()).add(to))
    }
  }
  return edges
}

/** True if there is a path of more than one edge from one part to another. */
function hasDetour(edges: Edges, from: string, to: string): boolean {
  const seen = new Set([from])
  const next = [...(edges.get(from) ?? [])].filter((part) => part !== to)
  for (let part = next.pop(); part !== undefined; part = next.pop()) {
    if (part === to) return true
    if (seen.has(part)) continue
    seen.add(part)
    next.push(...(edges.get(part) ?? []))
  }
  return false
}

/** The folders and what each imports, as a Mermaid diagram. Arrows implied by others and imports of types are omitted. */
export function layerDiagram(): string {
  const edges = importGraph()
  const arrows = [...edges].flatMap(([from, targets]) =>
    [...targets].filter((to) => !hasDetour(edges, from, to)).map((to) => `  ${from} --> ${to}`),
  )
  return ['```mermaid', 'flowchart TD', ...arrows.toSorted(), '```'].join('\n')
}
