import { createClient, isProblem } from '@cloud-repository/client'

// The address of the service, or '/' on its own origin.
const { files, changes } = createClient({ url: '/', cookies: true })
const input = document.querySelector('input')!
const progress = document.querySelector('progress')!
const status = document.querySelector('p')!
const gallery = document.querySelector('main')!
const FOLDER = 'pictures/'
const pictures = new Map<string, HTMLImageElement>()

async function show(name: string) {
  if (!name.startsWith(FOLDER) || !/\.(avif|gif|jpe?g|png|webp)$/i.test(name)) return
  try {
    const { stream } = await files.download(name)
    const src = URL.createObjectURL(await new Response(stream).blob())
    remove(name)
    const picture = Object.assign(new Image(), { alt: name, src })
    pictures.set(name, picture)
    gallery.append(picture)
  } catch (error) {
    // It has been deleted or replaced since: its own change follows.
    if (!isProblem(error, 'not_found', 'file_changed')) throw error
  }
}

function remove(name: string) {
  const picture = pictures.get(name)
  if (picture === undefined) return
  picture.remove()
  URL.revokeObjectURL(picture.src)
  pictures.delete(name)
}

input.onchange = async () => {
  for (const file of input.files ?? []) {
    try {
      await files.upload(FOLDER + file.name, file, {
        onProgress: ({ sent, total }) => (progress.value = sent / (total || 1)),
      })
    } catch (error) {
      if (!isProblem(error, 'capacity_exceeded')) throw error
      status.textContent = `Your repository is full: ${error.problem.available} bytes are free.`
    }
  }
}

// Shows the files, then what becomes of them, here and on other devices. `follow` never ends by itself.
let cursor: string | undefined
for await (const page of files.list({ prefix: FOLDER }).pages()) {
  cursor ??= page.changes_cursor
  for (const { name } of page.files) await show(name)
}
for await (const change of changes.follow({ cursor })) {
  if (change.type === 'file.renamed') remove(change.previous_name)
  // A change of the capacity has no file.
  if (change.name === undefined || change.type === 'file.updated') continue
  if (/deleted|evicted|expired/.test(change.type)) remove(change.name)
  else await show(change.name)
}
