import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { type SnippetName, snippetsOf } from '../../../src/web/view/snippets.ts'
import { hasTool } from '../../helpers/require-tool.ts'

const strange = `a "b" 'c': #d [e] (f} {{ g }} <h> & \\ %2F/?\u202e`
const cases = [
  ['http://127.0.0.1:8080/', 'survival'],
  ['https://status.example.org/mc/', strange],
  ['http://[::1]:8080/', 'Größe 日本'],
] as const

const snippet = (base: string, name: string, wanted: SnippetName): string =>
  snippetsOf(base, name).find(([snippetName]) => snippetName === wanted)?.[1] ?? ''

describe.each(cases)('the snippets of %s for %s', (base, name) => {
  const url = new URL(base)

  it.skipIf(!hasTool('promtool'))('have a scrape configuration that promtool accepts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tickwarden-snippet-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'prometheus.yml')
    const text = `scrape_configs:\n${snippet(base, name, 'prometheus')}\n`
    writeFileSync(file, text)
    expect(execFileSync('promtool', ['check', 'config', file], { encoding: 'utf8' })).toContain('SUCCESS')
    expect(parse(text).scrape_configs).toEqual([
      {
        job_name: 'tickwarden',
        scheme: url.protocol.slice(0, -1),
        metrics_path: `${url.pathname}metrics`,
        static_configs: [{ targets: [url.host] }],
      },
    ])
  })

  it('have sensors for Home Assistant as YAML', () => {
    const { rest } = parse(snippet(base, name, 'homeAssistant'))
    expect(rest).toHaveLength(1)
    const { pathname } = new URL(rest[0].resource)
    expect(decodeURIComponent(pathname.slice(url.pathname.length))).toBe(`api/v1/servers/${name}/getall`)
    expect(rest[0].sensor).toHaveLength(2)
    expect(rest[0].sensor[0].value_template).toBe('{{ value_json.METADATA.PLAYERS.ONLINE }}')
  })

  it('have links without characters that end them', () => {
    const [, alt, image, link] =
      /^\[!\[((?:\\.|[^\]\\])*)\]\(([^()\s]+)\)\]\(([^()\s]+)\)$/.exec(snippet(base, name, 'badge')) ?? []
    expect(alt).toBeTruthy()
    expect(decodeURIComponent(new URL(image ?? '').pathname)).toBe(`${url.pathname}api/v1/servers/${name}/badge.svg`)
    expect(decodeURIComponent(new URL(link ?? '').pathname)).toBe(`${url.pathname}servers/${name}`)
    const html = /^<a href="([^"<>]+)"><img src="([^"<>]+)" alt="([^"<>]*)"><\/a>$/.exec(snippet(base, name, 'banner'))
    expect(html?.[1]).toBe(link)
    expect(snippet(base, name, 'grafana')).toMatch(/^\/d\/tickwarden-server\/\?var-server=[^\s"&]+$/)
  })
})
