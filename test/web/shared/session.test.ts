import { expect, it } from 'vitest'
import { createHttp } from '../../../packages/js/src/http/http.ts'
import { createSession } from '../../../web/shared/session.ts'

/** A session whose requests the test answers, in any order. */
function open() {
  const asked: PromiseWithResolvers<void>[] = []
  const session = createSession({
    http: createHttp({
      url: 'http://service',
      fetch: () => Promise.resolve(new Response(null, { status: 204 })),
    }),
    ask: () => {
      const answer = Promise.withResolvers<void>()
      asked.push(answer)
      return answer.promise
    },
    member: 'access_token',
    nobody: 'access_token_missing',
    words: { notKept: 'not kept', reasons: { ended: 'ended' } },
    trustsLinks: false,
    onChanging: () => Promise.resolve(),
    onChange: () => undefined,
    onRefused: () => undefined,
  })
  return { session, asked }
}

it('an answer that comes after a sign-out does not open the session again', async () => {
  const { session, asked } = open()
  const looked = session.look()
  await session.signOut()
  asked[0]?.resolve()
  await looked
  expect(session.state.value).toMatchObject({ kind: 'closed' })
})

it('the answer to the last of several questions counts', async () => {
  const { session, asked } = open()
  const looked = [session.look(), session.look()]
  asked[1]?.resolve()
  await looked[1]
  asked[0]?.reject(new Error('Refused.'))
  await looked[0]
  expect(session.state.value).toEqual({ kind: 'open' })
})
