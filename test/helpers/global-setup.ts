import { execFileSync } from 'node:child_process'

/** Some tests run the built command: build it once, before any of them. */
export default function setup(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
}
