import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { settingWarnings } from '../../src/config/warnings.ts'

function warningsOf(environment: Record<string, string>, canSendInterim: boolean) {
  return settingWarnings(environment, readConfig(environment), { canSendInterim })
}

describe('the warnings about settings', () => {
  it('name interim responses that this Node.js cannot send', () => {
    expect(warningsOf({ RESUMABLE_INTERIM_RESPONSES: 'true' }, false)).toEqual([
      expect.stringContaining('Node.js 24.18'),
    ])
  })

  it.each([
    ['it can send them', 'true', true],
    ['they are off', 'false', false],
  ])('are none if %s', (_what, value, canSendInterim) => {
    expect(warningsOf({ RESUMABLE_INTERIM_RESPONSES: value }, canSendInterim)).toEqual([])
  })
})
