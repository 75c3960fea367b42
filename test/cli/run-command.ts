import { type CliOptions, runCli } from '../../src/cli/cli.ts'
import { failingCopies } from '../support/failing-copies.ts'
import { never } from '../support/objects.ts'

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** What a command that succeeds without a result answers. */
export const DONE: Outcome = { code: 0, out: '', err: '' }

/** Runs a command in this process, without S3. Words are separated by spaces. */
export async function runCommand(
  args: string | readonly string[],
  open: CliOptions['open'],
  signal = never(),
): Promise<Outcome> {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCli({
    args: typeof args === 'string' ? args.split(' ') : args,
    open,
    print: (line) => out.push(line),
    printError: (line) => err.push(line),
    interruption: () => signal,
    copies: failingCopies(new Error('There is no S3.')),
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}
