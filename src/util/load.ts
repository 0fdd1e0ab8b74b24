import module from 'node:module'
import { join } from 'node:path'
import { packageRoot } from './package.ts'

const loadSync = module.createRequire(join(packageRoot, 'package.json'))

/**
 * Loads a package when it is first used, because a start should not pay for what is rarely needed. Synchronous, so that two first
 * uses cannot overlap; Node.js keeps what has been loaded.
 * @throws Error that names the package
 */
export function load<T>(name: string): T {
  try {
    return loadSync(name)
  } catch (error) {
    const [reason] = (error as Error).message.split('\n')
    throw new Error(`the package "${name}" cannot be loaded: ${reason}`, { cause: error })
  }
}
