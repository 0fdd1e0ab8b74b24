// The kinds of settings and query parameters.
export * from './kinds/address.ts'
export * from './kinds/file.ts'
export * from './kinds/kind.ts'
export * from './kinds/number.ts'
export * from './kinds/schedule.ts'
export * from './kinds/text.ts'
export * from './kinds/url.ts'
