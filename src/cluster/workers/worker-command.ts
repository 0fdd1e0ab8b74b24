/** The command of the command line that runs a worker; only the process that polls uses it. */
export const workerCommand = 'worker'
