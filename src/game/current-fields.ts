import type { KnownFields, ServerSnapshot } from './snapshot.ts'

const noFields: KnownFields = Object.freeze({})

/** The fields that are valid now: none unless the server is up. Apart from snapshot.ts, which loads every source. */
export const currentFields = ({ up, fields }: Pick<ServerSnapshot, 'up' | 'fields'>): KnownFields =>
  up === true ? fields : noFields
