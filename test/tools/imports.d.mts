export const importArguments: readonly string[]
