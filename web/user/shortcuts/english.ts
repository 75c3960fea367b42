/** In English. They are not in `messages`, all of which the first visit loads. */
export const shortcutsEnglish = {
  title: 'Keyboard shortcuts',
  groups: { list: 'In the list', selection: 'Selection', everywhere: 'Everywhere' },
  move: 'Go to another file or folder',
  ends: 'Go to the first or the last one',
  open: 'Open',
  parent: 'Go to the folder above',
  actions: 'Show the actions',
  rename: 'Rename',
  remove: 'Delete',
  select: 'Select or deselect',
  extend: 'Select everything up to there',
  all: 'Select all',
  end: 'End the selection, or close what is open',
  search: 'Search',
  undo: 'Undo',
  help: 'Show this help',
  /** Names of keys, as on keyboards with these texts. */
  keys: {
    Control: 'Ctrl',
    Shift: 'Shift',
    Enter: 'Enter',
    Space: 'Space',
    Backspace: 'Backspace',
    Delete: 'Delete',
    Escape: 'Esc',
    Home: 'Home',
    End: 'End',
    Menu: 'Menu',
  },
  or: 'or',
}

export type ShortcutMessages = typeof shortcutsEnglish
