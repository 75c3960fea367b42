import { eventually } from '../eventually.ts'
import { type Program, type Started, startProgram } from './program.ts'

export interface Demo extends Started {
  readonly url: string
  /** The `Cookie` header of the user `demo`. */
  readonly cookie: string
}

/** Runs the program with its demo user. Resolves when it listens. */
export async function startDemo(what: Omit<Program, 'args'>): Promise<Demo> {
  const started = await startProgram({ args: ['serve', '--demo', '--print-token'], ...what })
  const { output } = started
  await eventually(async () => {
    if (!/curl .*\n.*curl /.test(output())) throw new Error(`It does not listen: ${output()}`)
  })
  const [, url = ''] = /listens on (\S+)/.exec(output()) ?? []
  const [, cookie = ''] = /--cookie (\S+)/.exec(output()) ?? []
  return { ...started, url, cookie }
}
