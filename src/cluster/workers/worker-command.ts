/** The hidden command that runs a worker; used by the primary process only. */
export const workerCommand = 'worker'
