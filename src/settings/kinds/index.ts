// The kinds of settings and query parameters.

export * from './address.ts'
export * from './file.ts'
export * from './kind.ts'
export * from './number.ts'
export * from './text.ts'
export * from './timezone.ts'
export * from './url.ts'
