import { type ChildProcess, spawn } from 'node:child_process'
import { Redis } from 'ioredis'
import { freePort } from '../../test/helpers/run-tool.ts'
import { endWithParent, waitUntil } from '../wait.ts'

export interface BenchRedis {
  readonly url: string
  readonly process: ChildProcess
  usage(): Promise<RedisUsage>
  close(): void
}

export interface RedisUsage {
  readonly cpuSeconds: number
  readonly rss: number
}

/** Starts redis-server without persistence. */
export async function startBenchRedis(): Promise<BenchRedis> {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = endWithParent(spawn('redis-server', args, { stdio: 'ignore' }))
  const redis = new Redis({ port, retryStrategy: () => 20 })
  redis.on('error', () => {})
  await waitUntil('redis-server', async () => (await redis.ping()) === 'PONG')
  return {
    url: `redis://127.0.0.1:${port}`,
    process: child,
    async usage() {
      const text = `${await redis.info('cpu')}\n${await redis.info('memory')}`
      const value = (name: string) => Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(text)?.[1])
      return { cpuSeconds: value('used_cpu_user') + value('used_cpu_sys'), rss: value('used_memory_rss') }
    },
    close() {
      redis.disconnect()
      child.kill('SIGKILL')
    },
  }
}
