import type { Format } from './format.ts'
import type { Texts } from './texts/en.ts'

/** The administrator's own parts of the pages. */
export interface ShownBrand {
  /** Paths from the root of the service. */
  readonly styles: string
  readonly logo?: string
  readonly footer?: string
  readonly links?: readonly { readonly label: string; readonly href: string }[]
}

/** What every view needs besides its data. */
export interface ViewContext {
  readonly texts: Texts
  readonly format: Format
  /** Unix milliseconds. */
  readonly now: number
  /** Relative path from the page to the root of the service: empty or `../`. Every URL is relative, so that any prefix works. */
  readonly root: string
  readonly title: string
  /** True if the data are of the built-in demo server. */
  readonly isDemo?: boolean
  /** Notification channels whose last attempt failed. Default: none. */
  readonly failingChannels?: readonly string[]
  /** False: without icons, charts and everything else that is only available under /api/v1. Default: true. */
  readonly isPublic?: boolean
  readonly brand?: ShownBrand | undefined
}

export const serverPath = (root: string, name: string): string => `${root}servers/${encodeURIComponent(name)}`
export const apiPath = (root: string, name: string): string => `${root}api/v1/servers/${encodeURIComponent(name)}`
