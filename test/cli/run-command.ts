import { runCli } from '../../src/cli/cli.ts'
import type { CommandServices } from '../../src/cli/command.ts'
import { type InProcessOptions, createInProcess } from '../../src/http/admin/in-process.ts'
import { failingCopies } from '../support/failing-copies.ts'
import { never } from '../support/objects.ts'

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** What a command that succeeds without a result answers. */
export const DONE: Outcome = { code: 0, out: '', err: '' }

/** What a service has of what commands need. */
export type Services = Omit<CommandServices, 'openAdmin'> & InProcessOptions['useCases']

/** Runs a command in this process, without S3. Words are separated by spaces. */
export async function runCommand(
  args: string | readonly string[],
  open: (options: { readonly acceptsAnyStore: boolean }) => Promise<Services>,
  signal = never(),
): Promise<Outcome> {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCli({
    args: typeof args === 'string' ? args.split(' ') : args,
    open: async (options) => withAdmin(await open(options)),
    print: (line) => out.push(line),
    printError: (line) => err.push(line),
    interruption: () => signal,
    copies: failingCopies(new Error('There is no S3.')),
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

export function withAdmin(services: Services): CommandServices {
  const openAdmin: CommandServices['openAdmin'] = async (onUnrecorded) =>
    createInProcess({ useCases: services, onUnrecorded })
  return { ...services, openAdmin }
}
