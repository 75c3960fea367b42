import { useEffect, useMemo, useState } from 'preact/hooks'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { formatTime } from '../../shared/format.ts'
import { operatorWords } from '../words.ts'
import type { ParkedWebhook } from '../../../packages/js/src/admin.ts'
import { firstPage } from '../../shared/connection.ts'
import type { Page } from '../page.ts'
import { createWatched } from '../watched.ts'
import { Entry, SectionFrame } from '../../shared/section.tsx'

const words = operatorWords.webhooks

/** The events that could not be delivered, the oldest 100 of them. Empty if there are none, as it should be. */
export function ParkedWebhooks({ page }: { readonly page: Page }) {
  const { client, reader, toasts } = page
  const watched = useMemo(() => createWatched(read), [])
  const parked = watched.value.value ?? []
  const [discarding, setDiscarding] = useState<ParkedWebhook>()

  async function read(): Promise<readonly ParkedWebhook[]> {
    const found = await firstPage(reader.webhooks.list({ limit: 100 }))
    return found?.webhooks ?? []
  }

  async function sendAgain({ webhook_id: id }: ParkedWebhook): Promise<void> {
    await client.webhooks.retry(id)
    await watched.read()
  }

  async function discard({ webhook_id: id }: ParkedWebhook): Promise<void> {
    await client.webhooks.discard(id)
    await watched.read()
  }

  // At the interval of the charts. A refused token is handled by the session.
  const moment = page.watch.samples.value.at(-1)?.at
  useEffect(() => void watched.refresh(), [moment])
  if (parked.length === 0 && discarding === undefined) return null
  return (
    <>
      <SectionFrame title={words.title} empty={words.empty}>
        {parked.map((event) => (
          <Entry
            key={event.webhook_id}
            icon="warning"
            name={words.name(event.type, event.user_id)}
            details={[formatTime(event.at), event.reason]}
            {...(page.may('admin') && {
              action: {
                label: words.againNamed(event.webhook_id),
                text: words.again,
                run: () => void toasts.attempt(() => sendAgain(event)),
              },
              remove: {
                label: words.discardNamed(event.webhook_id),
                text: words.discard,
                run: () => setDiscarding(event),
              },
            })}
          />
        ))}
      </SectionFrame>
      {discarding !== undefined && (
        <FormDialog
          title={words.discardTitle}
          subject={words.name(discarding.type, discarding.user_id)}
          action={words.discard}
          isGrave
          submit={() => discard(discarding)}
          onClose={() => setDiscarding(undefined)}
        >
          <p>{words.discardText}</p>
        </FormDialog>
      )}
    </>
  )
}
