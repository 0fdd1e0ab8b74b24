/** Loads sharp when the first picture is made, because it takes 12 MB of memory. */
export const loadSharp = async () => (await import('sharp')).default
