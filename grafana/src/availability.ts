import { type Alert, serverDashboard } from './alert.ts'
import type { DashboardConfig } from './config.ts'
import { available } from './recording-rules.ts'

const percent = (ratio: number): string => `${Number((100 * ratio).toFixed(3))} %`

/**
 * Windows and burn rates as in the Site Reliability Workbook, "Alerting on SLOs": at rate 1 the outages that the objective allows
 * in 30 days are used up in 30 days. The short window ends the alert soon after the outage.
 */
const windows = [
  { rate: 14.4, long: '1h', short: '5m', for: '2m', severity: 'critical' },
  { rate: 6, long: '6h', short: '30m', for: '15m', severity: 'critical' },
  { rate: 1, long: '3d', short: '6h', for: '1h', severity: 'warning' },
] as const

/** Alerts for an availability objective; none unless it is turned on. */
export const burnRateAlerts = ({ objective, alerts }: DashboardConfig['availability']): readonly Alert[] =>
  (alerts ? windows : []).map(({ rate, long, short, for: duration, severity }) => {
    const burns = (window: string) =>
      `1 - avg_over_time(${available.name}[${window}]) > ${Number((rate * (1 - objective)).toFixed(6))}`
    return {
      name: `AvailabilityBurn${long}`,
      severity,
      dashboard: serverDashboard,
      // Not of a server that is no longer watched, or in maintenance. Five minutes, so that a failed scrape is no end of the outage.
      expr: `${burns(long)}\nand\n${burns(short)}\nand\nlast_over_time(${available.name}[5m])`,
      for: duration,
      summary: '{{ or $labels.server $labels.target }} is down too often',
      description: `{{ or $labels.server $labels.target }} was down {{ $value | humanizePercentage }} of the last ${long}. At this rate it misses its objective of ${percent(objective)} availability in 30 days.`,
      action: 'The annotations "Restart" of its dashboard show when it was down, its log and crash reports why.',
    }
  })
