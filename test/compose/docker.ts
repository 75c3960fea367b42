import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export interface DockerOptions {
  /** What is set besides this process's own variables. */
  readonly environment?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

/** Runs one `docker` command and resolves to what it printed; rejects with its complaint. */
export async function docker(
  args: readonly string[],
  { environment, timeoutMs = 60_000 }: DockerOptions = {},
): Promise<string> {
  const { stdout } = await execute('docker', [...args], {
    env: { ...process.env, ...environment },
    timeout: timeoutMs,
    maxBuffer: 16 * 2 ** 20,
  })
  return stdout.trim()
}

/** Why no compose file can be run here, or `undefined` if one can. */
export async function missingEngine(): Promise<string | undefined> {
  const needed = [
    { args: ['version', '--format', '{{.Server.Version}}'], reason: 'no container engine answers' },
    { args: ['compose', 'version'], reason: 'docker has no compose plugin' },
  ]
  for (const { args, reason } of needed) {
    try {
      await docker(args, { timeoutMs: 20_000 })
    } catch {
      return reason
    }
  }
  return undefined
}

/** Why an image can't be had here, or `undefined` when it is there. */
export async function missingImage(image: string): Promise<string | undefined> {
  const found = docker(['image', 'inspect', image]).catch(() => docker(['pull', '-q', image]))
  return found.then(
    () => undefined,
    () => `the image ${image} can not be pulled`,
  )
}
