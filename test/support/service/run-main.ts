/**
 * Runs a command of the repository and sets its exit code. `--help` prints the usage. An invalid option prints the
 * error and the usage, with exit code 2.
 */
export async function runMain(
  usage: string,
  main: (args: readonly string[]) => Promise<number>,
): Promise<void> {
  const args = process.argv.slice(2)
  if (args.includes('--help')) {
    console.log(usage)
    return
  }
  try {
    process.exitCode = await main(args)
  } catch (error) {
    if (!isWrongOption(error)) throw error
    console.error(`${error.message}\n${usage}`)
    process.exitCode = 2
  }
}

/** Thrown by `parseArgs` of Node. */
function isWrongOption(error: unknown): error is Error {
  return (
    error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_')
  )
}
