import { expect, it } from 'vitest'
import { powerShellCommand, shellCommand } from '../../../../web/shared/tokens/first-command.ts'

const OPTIONS = { address: 'https://files.example', token: 'crt_x', prefix: `a'"$(b)!1*\`/` }

// Between quotation marks, shells expand `$` and backticks, and interactive ones `!`.
it.each(['create', 'read'] as const)('shells read nothing in the names of a line to %s', (kind) => {
  for (const command of [shellCommand, powerShellCommand]) {
    const line = command({ ...OPTIONS, kind })
    const encoded = '%27%22%24%28b%29%211%2A%60'
    expect(line).toContain(
      `https://files.example/users/me/repo${kind === 'read' ? '?prefix=' : '/'}a${encoded}`,
    )
    expect(line.replaceAll(/\$\(date [^)]*\)|\$\(Get-Date [^)]*\)/g, '')).not.toMatch(/[!'$`*]/)
  }
})
