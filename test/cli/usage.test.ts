import { expect, it } from 'vitest'
import { formOf } from '../../src/cli/usage.ts'

const command = (usage: string) => ({ usage, summary: '', calls: [] })

it('the words of a command may have hyphens', () => {
  const form = formOf(command('users rename-label <user_id> --label ... [--dry-run]'))
  expect(form).toMatchObject({
    words: ['users', 'rename-label'],
    operands: ['user_id'],
    requiredOptions: ['label'],
    options: { label: { type: 'string' }, 'dry-run': { type: 'boolean' } },
  })
})

it('a usage that is not understood as a whole is a defect of the command', () => {
  for (const usage of ['users Show', 'users show {user_id}', 'users list --limit N']) {
    expect(() => formOf(command(usage))).toThrow(TypeError)
  }
})
