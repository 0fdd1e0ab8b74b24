import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** grafana/config.yaml, where each value is explained. */
export interface DashboardConfig {
  readonly job: string
  readonly selector: string
  readonly thresholds: {
    readonly laggingBelow: number
    readonly littleHeadroomAbove: number
    readonly outagesIn15Minutes: number
  }
  readonly availability: { readonly objective: number; readonly alerts: boolean }
  readonly links: { readonly runbooks: string; readonly grafana: string }
}

export const config = parse(readFileSync(join(import.meta.dirname, '..', 'config.yaml'), 'utf8')) as DashboardConfig
