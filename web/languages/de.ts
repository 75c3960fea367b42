import type { Messages } from '../messages.ts'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatNeed,
  formatTime,
  formatWholeTime,
} from '../shared/format.ts'
import { pluralIn } from '../shared/plural.ts'

const form = pluralIn('de')

const counted = (count: number, one: string, other: string): string =>
  `${formatCount(count)} ${form(count, { one, other })}`

const files = (count: number): string => counted(count, 'Datei', 'Dateien')

const uploads = (count: number): string => counted(count, 'Upload', 'Uploads')

const oneOrMany = (count: number, name: string): string =>
  count === 1 ? `„${name}“ wurde` : `${files(count)} wurden`

/** German. Addresses the reader as "du"; buttons are infinitives. */
export const messages: Messages = {
  product: 'Cloud Repository',
  outage: 'Der Dienst ist nicht erreichbar. Neuer Versuch …',
  close: 'Schließen',
  cancel: 'Abbrechen',
  undo: 'Rückgängig',
  retry: 'Erneut versuchen',
  showMore: 'Mehr anzeigen',
  unit: 'Einheit',
  keyboard: 'Tastenkürzel',
  notLoaded:
    'Ein Teil der Seite konnte nicht geladen werden. Versuche es erneut, oder lade die Seite neu.',
  failed: 'Das hat nicht geklappt. Versuche es erneut, oder lade die Seite neu.',

  signIn: {
    title: 'Anmelden',
    explanation:
      'Das Zugriffstoken bekommst du vom Betreiber dieses Dienstes oder von dem Gerät, das du gekoppelt hast. ' +
      'Behandle es wie ein Passwort. Dein Browser speichert es so, dass kein Skript es lesen kann.',
    label: 'Zugriffstoken',
    show: 'Token anzeigen',
    action: 'Anmelden',
    signOut: 'Abmelden',
    needed: 'Gib dein Zugriffstoken ein.',
    notKept:
      'Dein Browser hat das Token nicht behalten. Erlaube Cookies für diese Adresse und versuche es noch einmal.',
    reasons: {
      access_token_invalid:
        'Dieses Zugriffstoken ist ungültig. Prüfe es auf Tippfehler; es kann auch abgelaufen oder widerrufen sein.',
      two_access_tokens:
        'Dein Browser hat zwei verschiedene Zugriffstoken gesendet, deshalb wurde die Anfrage abgelehnt. ' +
        'Vielleicht hat eine andere Website eines davon gesetzt, um an deine Dateien zu kommen. Melde dich ab, ' +
        'um beide zu entfernen, oder melde dich neu an. Erscheint diese Meldung wieder, lösche im Browser die ' +
        'Cookies dieser Adresse.',
      user_suspended: 'Dieses Konto ist gesperrt. Wende dich an den Betreiber dieses Dienstes.',
      too_many_requests:
        'Zu viele fehlgeschlagene Versuche. Versuche es in einigen Minuten noch einmal.',
      ended: 'Dein Zugriffstoken gilt nicht mehr, deshalb wurdest du abgemeldet.',
    },
    link: {
      title: 'Mit diesem Link anmelden?',
      warning:
        'Dieser Link enthält ein Zugriffstoken. Meldest du dich damit an, landen deine Uploads im Speicher der ' +
        'Person, der das Token gehört. Fahre nur fort, wenn du dem Absender des Links vertraust.',
      replaces: (user) =>
        `Du bist als „${user}“ angemeldet. Wenn du fortfährst, wirst du abgemeldet und laufende Uploads werden abgebrochen.`,
      action: 'Mit diesem Link anmelden',
      stay: (user) => `Als ${user} angemeldet bleiben`,
    },
    uploadsKept: (count) => `Noch ${files(count)} hochzuladen. Melde dich an, um fortzufahren.`,
  },

  files: {
    title: 'Dateien',
    name: 'Name',
    size: 'Größe',
    changed: 'Geändert',
    sortBy: 'Sortieren nach',
    orders: {
      name: 'Name, A bis Z',
      '-name': 'Name, Z bis A',
      '-updated_at': 'Neueste zuerst',
      updated_at: 'Älteste zuerst',
      '-size': 'Größte zuerst',
      size: 'Kleinste zuerst',
    },
    search: 'Nach Namen suchen',
    upload: 'Hochladen',
    choose: 'Dateien auswählen',
    asGrid: 'Als Raster anzeigen',
    asList: 'Als Liste anzeigen',
    uploadFolder: 'Ordner hochladen',
    loading: 'Wird geladen …',
    empty: 'Noch nichts hier',
    emptyHint: 'Zieh Dateien oder einen Ordner hierher, füge ein Bild ein oder wähle Dateien aus.',
    emptyHintForTouch: 'Wähle Dateien oder einen Ordner zum Hochladen aus.',
    noMatch: (text) => `Kein Name enthält „${text}“`,
    dropHere: 'Zum Hochladen loslassen',
    folder: (name) => `Ordner ${name}`,
    download: (name) => `${name} herunterladen`,
    share: (name) => `${name} teilen`,
    rename: (name) => `${name} umbenennen`,
    move: (name) => `${name} verschieben`,
    remove: (name) => `${name} löschen`,
    stay: (name) => `Aufbewahrung von ${name}`,
    history: (name) => `Frühere Versionen von ${name}`,
    more: (name) => `Aktionen für ${name}`,
    actions: {
      select: 'Auswählen',
      download: 'Herunterladen',
      share: 'Teilen',
      rename: 'Umbenennen',
      move: 'Verschieben',
      stay: 'Aufbewahrung',
      history: 'Frühere Versionen',
      remove: 'Löschen',
    },
    time: formatTime,
    wholeTime: formatWholeTime,
  },

  selection: {
    title: 'Ausgewählte Dateien',
    select: (name) => `${name} auswählen`,
    count: (count) => `${formatCount(count)} ausgewählt`,
    size: (bytes) => formatBytes(bytes),
    all: 'Alle auswählen',
    more: 'Noch sind nicht alle Dateien aufgelistet.',
    end: 'Auswahl beenden',
    actions: {
      download: 'Herunterladen',
      share: 'Teilen',
      move: 'Verschieben',
      keep: 'Behalten',
      unkeep: 'Nicht behalten',
      remove: 'Löschen',
    },
    progress: (done, all) => `${formatCount(done)} von ${files(all)} …`,
    done: {
      share: (count) => `Die Freigabe von ${files(count)} wurde geändert.`,
      keep: (count) => `${files(count)} ${form(count, { one: 'wird', other: 'werden' })} behalten.`,
      unkeep: (count) =>
        `${files(count)} ${form(count, { one: 'wird', other: 'werden' })} nicht mehr behalten.`,
      rename: (count) =>
        `${files(count)} ${form(count, { one: 'wurde', other: 'wurden' })} verschoben.`,
    },
    left: (count, all, why) => `Nicht erledigt bei ${formatCount(count)} von ${files(all)}: ${why}`,
    whys: {
      changed: 'Sie wurden geändert oder gibt es nicht mehr.',
      exists: 'Es gibt Dateien mit diesen Namen.',
      lost: 'Sie können nicht mehr wiederhergestellt werden.',
      full: 'Es ist zu wenig Platz.',
      cancelled: 'Du hast es abgebrochen.',
    },
    archive: {
      title: 'Herunterladen',
      hint: (most) =>
        `In ein Archiv passen bis zu ${formatCount(most)} ausgewählte Dateien, bei langen Namen weniger.`,
      part: (index, count, bytes) =>
        `Archiv ${formatCount(index)}: ${files(count)}, ${formatBytes(bytes)}`,
      together: (count, bytes) => `Ein Archiv: ${files(count)}, ${formatBytes(bytes)}`,
    },
  },

  folders: {
    title: 'Ordner',
    all: 'Alle Dateien',
    searched: 'Gesucht in',
    make: 'Neuer Ordner',
    count: files,
    tooMany:
      'Es sind zu viele Dateien, um sie nach Ordnern zu sortieren. Deshalb werden auch die in Ordnern angezeigt.',
    empty: (folder) => `In „${folder}“ ist nichts`,
    noMatch: (text, folder) => `Kein Name in „${folder}“ enthält „${text}“`,
    dropHere: (folder) => `Zum Hochladen nach „${folder}“ loslassen`,
  },

  moves: {
    title: 'Verschieben',
    action: 'Verschieben',
    entries: (count) => counted(count, 'Eintrag', 'Einträge'),
    foldersIn: (folder) => `Ordner in ${folder}`,
    noFolders: 'Hier sind keine Ordner.',
    tooMany: (most) => `Nur die ersten ${formatCount(most)} Ordner werden angezeigt.`,
    there: 'Schon in diesem Ordner. Wähle einen anderen.',
    taken: (count, name) =>
      count === 1
        ? `Eine Datei oder einen Ordner namens „${name}“ gibt es schon.`
        : `${formatCount(count)} dieser Namen sind schon vergeben, darunter „${name}“.`,
    twice: (name) => `Zwei davon heißen „${name}“.`,
    intoItself: 'Ein Ordner kann nicht in sich selbst verschoben werden.',
    makeAction: 'Anlegen',
    folderName: 'Name des Ordners',
  },

  viewer: {
    place: (index, count, hasMore) =>
      `${formatCount(index)} von ${formatCount(count)}${hasMore ? '+' : ''}`,
    announce: (name) => `${name} wird angezeigt`,
    previous: 'Vorherige Datei',
    next: 'Nächste Datei',
    notShown: 'Diese Datei kann hier nicht angezeigt werden.',
    empty: 'Diese Datei ist leer.',
    download: (size) => `Herunterladen (${size})`,
    beginning: (size) => `Das ist der Anfang der Datei, ${size}.`,
  },

  limits: {
    title: 'Eingeschränkter Zugriff',
    until: (time) => `bis ${formatTime(time)}`,
    actions: {
      read: 'lesen',
      create: 'neue Dateien hochladen',
      replace: 'ersetzen',
      delete: 'löschen',
      history: 'frühere Versionen',
      share: 'teilen',
    },
    unseen: 'Dein Zugriffstoken erlaubt dir nicht, die Dateien zu sehen.',
    shown: (prefix) => `Du siehst nur Dateien, deren Namen mit „${prefix}“ beginnen.`,
    uploaded: (prefix) =>
      `Beginnt der Name einer neuen Datei nicht mit „${prefix}“, wird es ihm vorangestellt.`,
  },

  visibility: { users: 'Alle Konten', public: 'Öffentlich' },

  rename: {
    done: (before) => `„${before}“ wurde umbenannt.`,
    title: 'Umbenennen',
    label: 'Neuer Name',
    action: 'Umbenennen',
    replace: 'Ersetzen',
    taken: (name) => `Eine Datei namens „${name}“ gibt es schon.`,
    invalid:
      'Ein Name muss 1 bis 255 Byte lang sein, darf weder / noch \\ enthalten und nicht „.“ oder „..“ sein.',
    gone: 'Diese Datei gibt es nicht mehr, oder sie wurde inzwischen geändert.',
    outside: (prefix) => `Dein Zugriffstoken erlaubt nur Namen, die mit „${prefix}“ beginnen.`,
  },

  removal: {
    done: (count, name) => `${oneOrMany(count, name)} gelöscht.`,
    forGood: (count, name) =>
      `${oneOrMany(count, name)} endgültig gelöscht. Dieser Dienst bewahrt gelöschte Dateien nicht auf.`,
    changed: (name) => `„${name}“ wurde nicht gelöscht, weil die Datei geändert wurde.`,
  },

  history: {
    title: 'Gelöschte und frühere Versionen',
    back: 'Alle Dateien',
  },

  versions: {
    of: (name) => `Frühere Versionen von „${name}“`,
    empty: 'Nichts wiederherzustellen',
    emptyHint:
      'Wenn dieser Dienst sie aufbewahrt, bleiben ersetzte und gelöschte Dateien hier eine Weile erhalten.',
    ended: {
      replaced: (time) => `ersetzt ${formatTime(time)}`,
      deleted: (time) => `gelöscht ${formatTime(time)}`,
    },
    kept: (time) => `längstens bis ${formatTime(time)} aufbewahrt`,
    download: (version) => `${version} herunterladen`,
    restore: (version) => `${version} wiederherstellen`,
    purge: (version) => `${version} endgültig löschen`,
    actions: { restore: 'Wiederherstellen', purge: 'Endgültig löschen' },
    restored: (name) => `„${name}“ wurde wiederhergestellt.`,
    replaceTitle: 'Aktuelle Datei ersetzen?',
    replaceText: (name) =>
      `Eine Datei namens „${name}“ gibt es schon. Wenn du sie ersetzt, wird sie zu einer früheren Version.`,
    replace: 'Ersetzen',
    purgeTitle: 'Diese Version endgültig löschen?',
    purgeText: 'Du kannst sie danach nicht wiederherstellen.',
    purgeAll: 'Alle endgültig löschen',
    purgeAllTitle: 'Alle diese Versionen endgültig löschen?',
    purgeAllText:
      'Du kannst danach keine davon wiederherstellen. Deine aktuellen Dateien bleiben erhalten.',
    refusals: {
      exists: (name) =>
        `„${name}“ wurde nicht wiederhergestellt, weil es wieder eine Datei mit diesem Namen gibt.`,
      full: (name, available) =>
        `Zu wenig Platz, um „${name}“ wiederherzustellen: ${formatBytes(available)} frei.`,
      gone: (name) => `„${name}“ kann nicht mehr wiederhergestellt werden.`,
      shared: (name) =>
        `„${name}“ wurde nicht wiederhergestellt, weil andere die Datei lesen konnten und dein Zugriffstoken das Teilen nicht erlaubt.`,
    },
  },

  capacity: {
    title: 'Speicherplatz',
    used: 'Belegt',
    reserved: 'Wird hochgeladen',
    free: 'Frei',
    of: (used, capacity) => `${formatBytes(used)} von ${formatBytes(capacity)} belegt`,
    unfinished: (count, bytes) =>
      `${counted(count, 'unvollständiger Upload', 'unvollständige Uploads')} (${formatBytes(bytes)})`,
    history: (used, allowance) =>
      `Frühere Versionen: ${formatBytes(used)} von ${formatBytes(allowance)}`,
    meter: (used, reserved, free) =>
      `${formatBytes(used)} belegt, ${formatBytes(reserved)} werden hochgeladen, ${formatBytes(free)} frei`,
    states: {
      normal: '',
      nearing: 'Bald voll.',
      critical: 'Fast voll.',
      exceeded: (bytes) =>
        `Um ${formatNeed(bytes)} überschritten. Deine Dateien sind sicher, aber du kannst erst wieder hochladen, wenn du Platz schaffst.`,
    },
    count: (count, most) => `${files(count)} von ${formatCount(most)}`,
    parts: 'Zusammensetzung',
    devices: 'Geräte und Zusammensetzung',
    base: 'In deinem Konto enthalten',
    device: 'Gerät',
    until: (time) => `bis ${formatTime(time)}`,
    stays: 'Solange du dein Konto hast.',
    leaves: (left) => `Ohne das hättest du ${formatBytes(left)} frei.`,
    leavesOver: (missing) =>
      `Ohne das wäre dein Speicherplatz um ${formatNeed(missing)} überschritten: Deine Dateien blieben, aber du könntest nichts hochladen.`,
  },

  uploads: {
    title: 'Uploads',
    running: (done, all) => `Upload ${formatCount(done + 1)} von ${formatCount(all)}`,
    finished: (count) => `${files(count)} hochgeladen`,
    needsYou: (count) =>
      `${files(count)} ${form(count, { one: 'wartet', other: 'warten' })} auf dich`,
    notUploaded: (count) =>
      `${files(count)} ${form(count, { one: 'wurde', other: 'wurden' })} nicht hochgeladen`,
    rate: (bytesPerSecond, seconds) =>
      `${formatBytes(bytesPerSecond)}/s, noch ${formatDuration(seconds)}`,
    expand: 'Alle Uploads anzeigen',
    collapse: 'Weniger anzeigen',
    clear: 'Liste leeren',
    cancelAll: 'Alle abbrechen',
    cancel: (name) => `${name} abbrechen`,
    dismiss: (name) => `${name} aus der Liste entfernen`,
    retry: (name) => `${name} erneut versuchen`,
    retryAll: 'Alle erneut versuchen',
    progress: 'Fortschritt aller Uploads',
    announce: (percent) => `${percent} % hochgeladen`,
    pasted: (time, extension) =>
      `Eingefügt ${time.toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '.')}${extension}`,
    states: {
      waiting: 'Wartet',
      sending: (sent, size) => `${formatBytes(sent)} von ${formatBytes(size)}`,
      finishing: 'Wird gespeichert',
      done: 'Hochgeladen',
      exists: 'Dieser Name ist schon vergeben.',
      unseen: 'Das ersetzt die Datei mit diesem Namen, die dein Zugriffstoken nicht zeigt.',
      full: 'Zu wenig Platz.',
      differs: 'Die Datei hat sich vielleicht geändert. Trotzdem fortsetzen?',
      elsewhere: 'Diese Datei wird gerade woanders hochgeladen.',
      lost: 'Verbindung verloren. Neuer Versuch …',
      signedOut: 'Wartet auf deine Anmeldung.',
    },
    replace: 'Ersetzen',
    keepBoth: 'Beide',
    skip: 'Auslassen',
    goOn: 'Fortsetzen',
    goOnHere: 'Hier fortsetzen',
    startOver: 'Neu beginnen',
    replaceAll: (count) => `Alle ${formatCount(count)} ersetzen`,
    skipAll: 'Alle auslassen',
    full: (missing, available) =>
      `Zu wenig Platz: Es fehlen ${formatNeed(missing)}. ` +
      (available === 0
        ? 'Dein Speicher ist voll. Lösche zuerst etwas.'
        : `Bis zu ${formatBytes(available)} würden passen.`),
    fits: 'Jetzt ist genug Platz. Versuche es erneut.',
    fullTogether: (count, missing) =>
      `Zu wenig Platz für alle ${files(count)}: Es fehlen ${formatNeed(missing)}.`,
    fullMany: (count, missing) =>
      `Zu wenig Platz für ${files(count)}: Es fehlen ${formatNeed(missing)}.`,
    refusals: {
      file_count_exceeded: 'Die Höchstzahl an Dateien ist erreicht. Lösche zuerst welche.',
      file_too_large: (most) =>
        `Diese Datei ist zu groß. Erlaubt sind höchstens ${formatBytes(most)}.`,
      name_too_long:
        'Dieser Name ist zu lang. Ein Name hat höchstens 255 Byte, mit seinen Ordnern höchstens 1.024. Kürze ihn und versuche es noch einmal.',
      invalid_file_name:
        'Dieser Dateiname ist nicht erlaubt: Er enthält \\ oder ein Steuerzeichen, oder ein Teil von ihm ist „.“ oder ' +
        '„..“. Benenne die Datei um und versuche es noch einmal.',
      unfinished_uploads_exceeded:
        'Du hast zu viele unvollständige Uploads. Beende oder verwirf zuerst welche.',
      cancelled: 'Dieser Upload wurde woanders abgebrochen.',
      given_up: 'Der Upload ist mehrmals fehlgeschlagen. Versuche es später noch einmal.',
      unreadable:
        'Die Datei konnte nicht gelesen werden. Vielleicht wurde sie verschoben oder geändert.',
      absent:
        'Dein Zugriffstoken erlaubt nur, Dateien zu ersetzen, und es gibt keine mit diesem Namen.',
      folder_exists:
        'Es gibt einen Ordner mit diesem Namen. Benenne die Datei um und versuche es noch einmal.',
      file_around: (name) =>
        `„${name}“ ist eine Datei und kann nicht auch ein Ordner sein. Benenne eins von beiden um und versuche es noch einmal.`,
    },
    tree: {
      open: (name) => `Dateien des Ordners ${name}`,
      progress: (name) => `Fortschritt des Ordners ${name}`,
      files: (done, all) => `${formatCount(done)} von ${files(all)}`,
      bytes: (sent, all) => `${formatBytes(sent)} von ${formatBytes(all)}`,
      failed: (count) => `${formatCount(count)} nicht hochgeladen`,
      undecided: (count) =>
        `${formatCount(count)} ${form(count, { one: 'wartet', other: 'warten' })} auf dich`,
      empty: 'Leerer Ordner',
    },
  },

  notStored: {
    capacity_exceeded: 'Die ganze Datei ist angekommen, aber es ist zu wenig Platz.',
    file_count_exceeded:
      'Die ganze Datei ist angekommen, aber die Höchstzahl an Dateien ist erreicht.',
    precondition_failed:
      'Die ganze Datei ist angekommen, aber die vorhandene Datei mit diesem Namen wurde inzwischen geändert.',
  },

  unfinished: {
    title: 'Unvollständige Uploads',
    interrupted: (count) =>
      `${uploads(count)} ${form(count, { one: 'wurde', other: 'wurden' })} unterbrochen. ` +
      `Wähle die ${form(count, { one: 'Datei', other: 'Dateien' })} noch einmal aus, um fortzufahren.`,
    complete: (count) =>
      `${uploads(count)} ${form(count, { one: 'konnte', other: 'konnten' })} noch nicht gespeichert werden.`,
    elsewhere: (count) =>
      `${uploads(count)} ${form(count, { one: 'läuft', other: 'laufen' })} woanders.`,
    progress: (name) => `Fortschritt von ${name}`,
    received: (offset, length) =>
      length === null ? formatBytes(offset) : `${formatBytes(offset)} von ${formatBytes(length)}`,
    kept: (time) => `aufbewahrt bis ${formatTime(time)}`,
    receiving: 'Wird woanders hochgeladen',
    arrived: 'Die ganze Datei ist angekommen.',
    retry: (name) => `${name} jetzt speichern`,
    cancel: (name) => `Upload von ${name} abbrechen`,
  },

  devices: {
    title: 'Geräte',
    use: (used, share) =>
      share === undefined
        ? `${formatBytes(used)} belegt`
        : `${formatBytes(used)} von ${formatBytes(share)} belegt`,
    files,
    newest: (time) => `neueste ${formatTime(time)}`,
    show: (name) => `Dateien von ${name}`,
    shown: (name) => `Dateien von „${name}“`,
    showAll: 'Alle Dateien anzeigen',
  },

  tokens: {
    title: 'Zugriffstoken',
    empty: 'Keine Zugriffstoken.',
    unnamed: 'Ohne Namen',
    issue: 'Token ausstellen',
    issueAction: 'Ausstellen',
    connect: 'Gerät verbinden',
    valid: 'Geräte und Programme',
    hint: 'Gib jedem Gerät und jedem Programm ein eigenes Token, das nur erlaubt, was nötig ist.',
    what: 'Was verbindest du?',
    program: 'Ein anderes Programm',
    programHint: 'Eine App, ein Skript oder ein Gerät, das nicht zu deinem Konto gehört.',
    noDevices:
      'Dein Konto hat keine Geräte. Der Betreiber dieses Dienstes fügt sie hinzu; ein Programm braucht keines.',
    name: 'Name',
    nameHint: 'Zum Beispiel Sicherung vom Laptop',
    permits: 'Es darf',
    inherited: ['So viel tun wie dein eigenes Zugriffstoken', ''],
    presets: {
      send: [
        'Dateien senden',
        'Es legt Dateien in seinen eigenen Ordner und sieht nur diese. Es löscht keine.',
      ],
      camera: ['Neue Dateien hochladen', 'Es kann nichts sehen, ersetzen oder löschen.'],
      read: ['Dateien lesen', 'Herunterladen und auflisten.'],
      sync: [
        'Dateien lesen, hochladen, ersetzen und löschen',
        'Für ein Programm, das einen Ordner abgleicht.',
      ],
      all: ['Alles', 'Auch Dateien teilen und weitere Token ausstellen.'],
    },
    folder: 'Sein Ordner',
    folderHint: 'Außerhalb dieses Ordners erreicht es nichts.',
    everywhere: 'Ohne Ordner erreicht es alle Dateien.',
    folderName: 'gerät',
    folderInvalid:
      'Ein Ordner darf höchstens 255 Bytes lang sein. Er darf weder \\ enthalten noch „.“ oder „..“ heißen.',
    whenFull: 'Wenn kein Platz mehr ist',
    full: {
      refuse: 'Neue Dateien ablehnen',
      evict_oldest: 'Älteste Dateien seines Ordners löschen',
    },
    evicting: 'schafft Platz, wenn er voll ist',
    inFolder: (folder) => `Ordner „${folder}“`,
    within: (prefix) => `Namen, die mit „${prefix}“ beginnen`,
    ofDevice: (name) => `Gerät ${name}`,
    everything: 'alles',
    term: 'Gültig',
    days: (days) =>
      days === 0
        ? 'Bis zum Widerruf'
        : days === 365
          ? '1 Jahr'
          : `${days} ${form(days, { one: 'Tag', other: 'Tage' })}`,
    atMost: (end) => `Längstens bis ${formatTime(new Date(end).toISOString())}`,
    refusals: {
      scope_insufficient: 'Dein eigenes Zugriffstoken erlaubt das nicht.',
      access_token_limit_exceeded:
        'Du hast die Höchstzahl an Zugriffstoken. Widerrufe zuerst eines.',
      not_found: 'Dieses Gerät gehört nicht mehr zu deinem Konto.',
    },
    issued: 'Token ausgestellt',
    once: 'Kopiere es oder scanne den Code jetzt. Es wird nicht noch einmal angezeigt.',
    address: 'Adresse',
    copyAddress: 'Adresse kopieren',
    addressCopied: 'Adresse kopiert.',
    code: 'QR-Code des Tokens',
    codeWithAddress: 'QR-Code mit Adresse und Token',
    command: {
      create: 'Eine erste Datei im Terminal hochladen',
      read: 'Die Dateien im Terminal auflisten',
    },
    windows: 'Unter Windows (PowerShell)',
    copyCommand: 'Befehl kopieren',
    commandCopied: 'Befehl kopiert.',
    copy: 'Token kopieren',
    copied: 'Token kopiert.',
    notCopied: 'Dein Browser hat das Kopieren nicht erlaubt. Markiere den Text und kopiere ihn.',
    done: 'Fertig',
    since: (time) => `ausgestellt ${time}`,
    until: (time) => `gültig bis ${time}`,
    expired: (time) => `abgelaufen ${time}`,
    forEver: 'gültig bis zum Widerruf',
    used: (time) => `zuletzt benutzt ${time}`,
    unused: 'nie benutzt',
    revoked: (time) => `widerrufen ${time}`,
    revoke: 'Widerrufen',
    revokeNamed: (label) => `${label} widerrufen`,
    revokeTitle: 'Dieses Token widerrufen?',
    revokeText:
      'In wenigen Sekunden funktioniert es nicht mehr, ebenso die Token, die damit ausgestellt wurden. Das lässt sich nicht rückgängig machen.',
  },

  links: {
    title: 'Links für Personen ohne Konto',
    empty: 'Keine Links.',
    unnamed: 'Ohne Titel',
    gives: (name) => `teilt „${name}“`,
    givesAll: (prefix) =>
      prefix === ''
        ? 'teilt alle Dateien'
        : prefix.endsWith('/')
          ? `teilt den Ordner „${prefix.slice(0, -1)}“`
          : `teilt Namen, die mit „${prefix}“ beginnen`,
    takes: (prefix) =>
      prefix === ''
        ? 'empfängt Dateien'
        : prefix.endsWith('/')
          ? `empfängt Dateien in „${prefix.slice(0, -1)}“`
          : `empfängt Dateien als „${prefix}…“`,
    withPassword: 'mit Passwort',
    since: (time) => `erstellt ${time}`,
    until: (time) => `gültig bis ${time}`,
    expired: (time) => `abgelaufen ${time}`,
    forEver: 'gültig bis zum Widerruf',
    left: (uses) => (uses === 0 ? 'aufgebraucht' : `noch ${counted(uses, 'Nutzung', 'Nutzungen')}`),
    receivedFiles: (count, most) => `${formatCount(count)} von ${files(most)} empfangen`,
    receivedBytes: (bytes, most) => `${formatBytes(bytes)} von ${formatBytes(most)} empfangen`,
    edit: 'Bearbeiten',
    editNamed: (label) => `Link ${label} bearbeiten`,
    revoke: 'Widerrufen',
    revokeNamed: (label) => `Link ${label} widerrufen`,
    revokeTitle: 'Diesen Link widerrufen?',
    revokeText:
      'Niemand kann ihn mehr benutzen. Empfangene Dateien bleiben. Das lässt sich nicht rückgängig machen.',
  },

  sharing: {
    title: 'Teilen',
    create: (count) =>
      count === 1 ? 'Link erstellen' : `${counted(count, 'Link', 'Links')} erstellen`,
    createTitle: 'Link erstellen',
    createAction: 'Erstellen',
    another: 'Weiteren Link erstellen',
    hint: {
      file: 'Wer den Link hat, kann diese Datei herunterladen, auch ohne Konto.',
      folder:
        'Wer den Link hat, kann herunterladen, was in diesem Ordner ist, auch was du später hinzufügst.',
      many: 'Für jede Datei und jeden Ordner ein Link. Wer ihn hat, kann sie herunterladen.',
      together:
        'Ein Link zu allen. Wer ihn hat, kann sie herunterladen, auch was du ihrem Ordner später hinzufügst.',
      tooMany: (most) =>
        `Um mehr als ${files(most)} zu teilen, verschiebe sie in einen Ordner und teile ihn.`,
    },
    kind: 'Was andere können',
    kinds: {
      download: ['Herunterladen', 'Wer den Link hat, kann die Dateien herunterladen.'],
      drop: [
        'Dir Dateien senden',
        'Wer den Link hat, kann Dateien senden und sieht keine von deinen.',
      ],
    },
    folder: 'Ordner (optional)',
    folderHints: {
      download: 'Zum Beispiel Reise. Ohne Ordner gilt der Link für alle Dateien.',
      drop: 'Zum Beispiel Party. Was andere senden, kommt dort an.',
    },
    term: 'Endet nach',
    days: (days) => (days === 0 ? 'Nie' : counted(days, 'Tag', 'Tagen')),
    unchanged: (end) => (end === null ? 'Nie' : `Unverändert: ${formatTime(end)}`),
    options: 'Passwort und mehr',
    password: 'Passwort (optional)',
    newPassword: 'Neues Passwort (optional)',
    passwordHint: 'Teile es auf einem anderen Weg mit als den Link.',
    passwordKept: 'Ohne ein neues bleibt das Passwort, wie es ist.',
    removePassword: 'Kein Passwort',
    removePasswordHint: 'Dann genügt der Link allein.',
    label: 'Titel (optional)',
    labelHint: 'Besucher sehen ihn.',
    uses: 'Höchstens Downloads (optional)',
    usesHint: 'Danach endet der Link. Besucher sehen keine Vorschau, denn sie würde mitzählen.',
    usesTaken: (used) => `${formatCount(used)} genutzt.`,
    maxFiles: 'Höchstens Dateien',
    maxBytes: 'Höchstens Speicherplatz',
    usual: 'Bleibt das Feld leer, gilt die übliche Grenze dieses Dienstes.',
    aboveUsual: (field) =>
      `„${field}“: Dieser Dienst erlaubt einem Link weniger. Lass das Feld leer für die übliche Grenze.`,
    received: (count) => `${files(count)} empfangen.`,
    receivedBytes: (bytes) => `${formatBytes(bytes)} empfangen.`,
    notAmount: 'Gib eine Zahl größer als 0 ein.',
    made: (count) =>
      count === 1 ? 'Link erstellt' : `${counted(count, 'Link', 'Links')} erstellt`,
    once: 'Kopiere ihn jetzt. Er wird nicht noch einmal angezeigt.',
    onceMany: 'Kopiere sie jetzt. Sie werden nicht noch einmal angezeigt.',
    link: 'Link',
    links: 'Links',
    copy: 'Link kopieren',
    copyAll: 'Links kopieren',
    copied: 'Kopiert.',
    notCopied: 'Dein Browser hat das Kopieren nicht erlaubt. Markiere den Text und kopiere ihn.',
    code: 'QR-Code des Links',
    showCode: 'Als QR-Code zeigen',
    partly: (made, all) =>
      `Nur ${formatCount(made)} von ${counted(all, 'Link', 'Links')} wurden erstellt.`,
    existing: { file: 'Links zu dieser Datei', folder: 'Links zu diesem Ordner' },
    editTitle: 'Link bearbeiten',
    save: 'Speichern',
    renew: 'Neue Adresse …',
    renewTitle: 'Diesem Link eine neue Adresse geben?',
    renewText:
      'Die alte Adresse funktioniert sofort nicht mehr, bei niemandem. Für die neue gilt dasselbe wie für die alte.',
    renewAction: 'Neue Adresse',
    advanced: 'Erweitert: Wer sie ohne Link sieht',
    who: 'Wer sie ohne Link sieht',
    whoMany: 'Wer jede davon ohne Link sieht',
    visibilities: {
      private: ['Nur du', 'Links, die du erstellt hast, funktionieren trotzdem.'],
      users: ['Alle Konten dieses Dienstes', 'Sie finden sie in deiner Liste.'],
      public: [
        'Öffentlich: jeder findet sie in deiner Liste',
        'Dazu braucht man weder Konto noch Link, nur deinen Namen.',
      ],
    },
    change: 'Ändern',
    address: 'Adresse',
    addresses: 'Adressen kopieren',
  },

  visit: {
    ended: 'Dieser Link ist nicht mehr gültig',
    endedText:
      'Er ist abgelaufen, wurde widerrufen oder aufgebraucht, oder die Adresse ist unvollständig. Bitte um einen neuen, wo du ihn bekommen hast.',
    failed: 'Der Link konnte nicht geöffnet werden',
    locked: 'Dieser Link hat ein Passwort',
    password: 'Passwort',
    open: 'Öffnen',
    notKept:
      'Dein Browser hat das Passwort nicht behalten. Erlaube Cookies für diese Adresse und versuche es noch einmal.',
    reasons: {
      link_password_invalid: 'Das ist nicht das Passwort des Links.',
      too_many_requests:
        'Zu viele fehlgeschlagene Versuche. Versuche es in einigen Minuten noch einmal.',
    },
    titles: { download: 'Geteilte Dateien', drop: 'Dateien senden' },
    hints: {
      download: 'Du kannst diese Dateien herunterladen.',
      drop: 'Deine Dateien gehen an die Person, die diesen Link erstellt hat. Niemand sonst mit dem Link sieht sie.',
    },
    until: (time) => `Der Link gilt bis ${time}.`,
    downloadsLeft: (uses) =>
      form(uses, {
        one: 'Noch ein Download ist möglich.',
        other: `Noch ${formatCount(uses)} Downloads sind möglich.`,
      }),
    takes: (count, size) => {
      const more = count === null ? 'Dateien' : `noch ${count === 1 ? 'eine Datei' : files(count)}`
      const together = count === 1 ? '' : 'zusammen '
      return `Er nimmt ${more} an${size === '' ? '' : `, ${together}höchstens ${size}`}.`
    },
    full: 'Er nimmt keine Dateien mehr an.',
    fullHint:
      'Dieser Link nimmt keine Dateien mehr an. Bitte um einen neuen, wo du ihn bekommen hast.',
    empty: 'Hier sind gerade keine Dateien.',
    inFolder: (count, size) => (count === 0 ? 'leer' : `${files(count)}, ${size}`),
    all: (size) => (size === '' ? 'Alle herunterladen' : `Alle herunterladen (${size})`),
    tooMany: 'Das sind zu viele Dateien für ein Archiv. Lade sie einzeln herunter.',
    preview: 'Vorschau',
    previewNamed: (name) => `Vorschau von ${name}`,
    previous: 'Voriges Foto',
    next: 'Nächstes Foto',
    notShown: 'Dein Browser kann diese Datei nicht anzeigen. Lade sie stattdessen herunter.',
    choose: 'Dateien auswählen',
    chooseFolder: 'Ordner auswählen',
    dropHere: 'oder Dateien und Ordner hierher ziehen',
    sentFiles: (sent, all) => `${formatCount(sent)} von ${files(all)}`,
    notSent: (count) => `${formatCount(count)} nicht gesendet`,
    sentOf: (sent, size) => `${sent} von ${size}`,
    states: {
      waiting: 'wartet',
      paused: 'keine Verbindung, neuer Versuch',
      done: 'gesendet',
    },
    allSent: (count) => `${files(count)} gesendet.`,
    refusals: {
      file_exists:
        'Eine Datei mit diesem Namen wurde schon gesendet. Benenne deine um, um sie auch zu senden.',
      capacity_exceeded: 'Für diese Datei ist kein Platz.',
      link_limit_exceeded: 'Der Link nimmt keine weiteren Dateien an, oder keine so große.',
      file_too_large: 'Diese Datei ist zu groß.',
      invalid_file_name: 'Dieser Dateiname wird nicht angenommen. Benenne die Datei um.',
      not_found: 'Der Link ist nicht mehr gültig.',
      link_password_required: 'Lade die Seite neu und gib das Passwort noch einmal ein.',
    },
    lost: {
      file_exists:
        'Die Verbindung ging verloren. Eine Datei mit diesem Namen ist angekommen, wahrscheinlich deine.',
      not_found:
        'Die Verbindung ging verloren, und der Link ist nicht mehr gültig. Die Datei ist vielleicht angekommen.',
    },
  },

  stay: {
    title: 'Aufbewahrung',
    keep: 'Behalten',
    keepHint: 'Uploads von Geräten, die Platz schaffen, löschen sie nicht.',
    expires: 'Automatisch löschen am (optional)',
    expiresHint: 'Am Ende dieses Tages. Danach lässt sie sich nicht wiederherstellen.',
    action: 'Speichern',
  },

  access: 'Links und Geräte',

  operator: {
    problems: {
      unauthorized: 'Du bist nicht als Betreiber angemeldet.',
      operator_forbidden: 'Deine Rolle erlaubt das nicht.',
      operator_exists: 'Diesen Betreiber gibt es schon.',
      operator_count_exceeded: 'Die Höchstzahl an Betreibern ist erreicht. Entferne zuerst welche.',
      user_exists: 'Dieses Konto gibt es schon.',
      webhook_failed: 'Der Empfänger hat das Ereignis nicht angenommen.',
    },
    title: 'Verwaltung',
    signIn: {
      title: 'Als Betreiber anmelden',
      explanation:
        'Dein Token als Betreiber, oder das ADMIN_TOKEN dieser Installation, das alles erlaubt. Du bleibst 12 Stunden ' +
        'angemeldet, oder bis du dich abmeldest.',
      label: 'Token',
      needed: 'Gib ein Token ein.',
      notKept:
        'Dein Browser hat das Token nicht behalten. Erlaube Cookies für diese Adresse und versuche es noch einmal.',
      reasons: {
        unauthorized:
          'Das ist weder das Admin-Token dieser Installation noch das eines Betreibers.',
        too_many_requests:
          'Zu viele fehlgeschlagene Versuche. Versuche es in einigen Minuten noch einmal.',
        ended:
          'Du wurdest abgemeldet: Deine Sitzung ist abgelaufen, oder dein Token gilt nicht mehr.',
      },
    },
    roles: { viewer: 'Beobachter', support: 'Support', admin: 'Administrator' },
    operators: {
      title: 'Betreiber',
      self: (name, role) => `${name} (${role})`,
      empty: 'Keine Betreiber. Nur das ADMIN_TOKEN ist bekannt.',
      add: 'Betreiber hinzufügen',
      addAction: 'Hinzufügen',
      name: 'Name',
      nameHint: '1 bis 64 Kleinbuchstaben, Ziffern oder . _ -',
      role: 'Rolle',
      roleHints: {
        viewer: 'Sieht alles und ändert nichts.',
        support: 'Ändert auch Status, Token, Links, Dateien und Verlauf von Konten.',
        admin: 'Darf alles.',
      },
      since: (time) => `seit ${time}`,
      token: 'Token',
      added: 'Betreiber hinzugefügt',
      once: 'Dieses Token wird nur jetzt gezeigt. Gib es dem Betreiber auf sicherem Weg.',
      copy: {
        copy: 'Kopieren',
        copied: 'Kopiert.',
        notCopied: 'Markiere das Token und kopiere es.',
      },
      done: 'Fertig',
      remove: 'Entfernen',
      removeNamed: (name) => `${name} entfernen`,
      removeTitle: 'Diesen Betreiber entfernen?',
      removeText: 'Das Token und alle Sitzungen enden sofort.',
    },
    statuses: { active: 'Aktiv', suspended: 'Gesperrt', deleted: 'Wird gelöscht' },
    views: { title: 'Ansichten', overview: 'Übersicht', users: 'Konten' },

    overview: {
      title: 'Übersicht',
      clockAhead: (seconds) =>
        `Die Uhr geht um ${formatDuration(seconds)} vor, oder der Dienst war außer Betrieb. Was erst seither endet, ` +
        'bleibt, bis sich die Uhr als richtig erwiesen hat.',
      users: 'Konten',
      others: ({ suspended, deleted }) =>
        [
          suspended === 0 ? '' : `${formatCount(suspended)} gesperrt`,
          deleted === 0 ? '' : `${formatCount(deleted)} werden gelöscht`,
        ]
          .filter(Boolean)
          .join(', '),
      files: 'Dateien',
      used: 'Gespeichert',
      reserved: 'Wird hochgeladen',
      garbage: 'Wird entfernt',
      history: 'Frühere Versionen',
      versions: (count) => (count === 1 ? '1 Version' : `${formatCount(count)} Versionen`),
      webhooks: 'Zuzustellende Ereignisse',
      parked: (count) => (count === 0 ? '' : `${formatCount(count)} nicht zugestellt`),
      growth: 'Letzte 30 Tage',
      noGrowth: 'Die Diagramme beginnen morgen.',
      change: (sign, size) => (sign === 0 ? 'Unverändert' : `${sign > 0 ? '+' : '−'}${size}`),
      grew: ({ title, from, to }) => `${title} in den letzten 30 Tagen, von ${from} auf ${to}`,
      fullest: 'Vollste Konten',
      largest: 'Größte Konten',
      noFiles: 'Kein Konto hat Dateien.',
    },

    instance: {
      title: 'Die Instanz, die antwortet',
      version: (version) => `Version ${version}`,
      uptime: (age) => `Seit ${age} in Betrieb`,
      free: (size) => `${size} frei`,
      freeForDatabase: (size) => `${size} frei für die Datenbank`,
      freeForObjects: (size) => `${size} frei für Dateien`,
      lastBackup: (age) => `Letzte Sicherung: vor ${age}`,
      noBackup: 'Letzte Sicherung: keine',
      settings: (count) => `Einstellungen (${count} gesetzt)`,
      settingsTitle: 'Geltende Einstellungen',
      defaults: (count) => `${count} wie voreingestellt`,
      allDefault: 'Alle sind wie voreingestellt.',
      secret: 'geheim',
      notSet: 'nicht gesetzt',
    },

    userFiles: {
      title: (userId) => `Dateien von ${userId}`,
      find: 'Name suchen',
      empty: (text) => (text === '' ? 'Keine Dateien.' : `Kein Name enthält „${text}“`),
      delete: 'Löschen',
      deleteTitle: 'Diese Datei löschen?',
      deleteText: (userId) =>
        `${userId} verliert sie sofort. Wenn der Dienst frühere Versionen behält, lässt sie sich von dort wiederherstellen.`,
    },

    users: {
      title: 'Konten',
      id: 'Konto',
      used: 'Belegt',
      of: (used, capacity) => `${used} von ${capacity}`,
      files: 'Dateien',
      since: 'Seit',
      status: 'Status',
      orders: { user_id: 'ID', '-created_at': 'Neueste zuerst', created_at: 'Älteste zuerst' },
      find: 'ID oder Gerät suchen',
      none: (userId) => `Ein Konto „${userId}“ gibt es nicht.`,
      noMatch: (text) => `Keine ID und kein Gerät enthält „${text}“`,
      empty: 'Noch keine Konten',
      emptyHint: 'Lege hier eines an, mit der Admin-API oder auf der Kommandozeile.',
      make: 'Neues Konto',
      makeAction: 'Konto anlegen',
      newId: 'ID',
      newIdHint: '1 bis 64 Buchstaben, Ziffern, - oder _. Leer: wird erzeugt.',
    },

    user: {
      back: 'Alle Konten',
      used: 'Belegt',
      reserved: 'Wird hochgeladen',
      available: 'Frei',
      capacity: 'Speicherplatz',
      files: 'Dateien',
      since: 'Seit',
      deleted: 'Dieses Konto wird mit allen Dateien gelöscht.',
      showFiles: 'Dateien',
      suspend: 'Sperren',
      suspendTitle: 'Dieses Konto sperren?',
      suspendText:
        'Seine Token funktionieren nicht mehr und seine geteilten Dateien sind verborgen, bis du es entsperrst. Nichts wird gelöscht.',
      activate: 'Entsperren',
      activateTitle: 'Dieses Konto entsperren?',
      activateText:
        'Seine Token und geteilten Links funktionieren wieder, außer denen, die mit JWTs gemacht wurden.',
      remove: 'Konto löschen',
      removeTitle: 'Dieses Konto löschen?',
      removeText: (count) =>
        `Seine Dateien (${count}), Token, Geräte und Gutschriften werden gelöscht. Das lässt sich nicht rückgängig machen.`,
      confirm: (userId) => `Zum Bestätigen ${userId} eingeben`,
      removed: (userId) => `„${userId}“ wird gelöscht.`,
    },

    devices: {
      title: 'Geräte',
      empty: 'Keine Geräte.',
      add: 'Gerät hinzufügen',
      addAction: 'Hinzufügen',
      id: 'Geräte-ID',
      idHint: '1 bis 128 Buchstaben, Ziffern oder . _ : @ -',
      model: 'Modell (optional)',
      bytes: 'Speicherplatz (optional)',
      bytesHint: 'Leer: der Standard für dieses Modell.',
      label: 'Name (optional)',
      labelHint: 'Wie es genannt wird.',
      share: 'Es darf speichern',
      shares: {
        default: 'Wie der Dienst eingestellt ist',
        all: 'So viel das Konto hat',
        own: 'So viel es selbst beiträgt',
        fixed: 'Eine feste Größe',
      },
      shareHint: 'Hat es schon mehr, speichert es nur nichts mehr dazu.',
      fixed: 'Größe',
      adds: (bytes) => `+${bytes}`,
      change: 'Ändern',
      changeNamed: (deviceId) => `${deviceId} ändern`,
      changeTitle: 'Dieses Gerät ändern',
      changeAction: 'Speichern',
      remove: 'Entfernen',
      removeNamed: (deviceId) => `${deviceId} entfernen`,
      removeTitle: 'Dieses Gerät entfernen?',
      removeText: (bytes) =>
        `Der Speicherplatz schrumpft um ${bytes}. Keine Datei wird gelöscht, aber wer zu viel belegt, kann nichts hochladen.`,
    },

    webhooks: {
      title: 'Nicht zugestellte Ereignisse',
      empty: 'Keine solchen Ereignisse.',
      name: (type, userId) => `${type} von ${userId}`,
      again: 'Erneut senden',
      againNamed: (id) => `${id} erneut senden`,
      discard: 'Verwerfen',
      discardNamed: (id) => `${id} verwerfen`,
      discardTitle: 'Dieses Ereignis verwerfen?',
      discardText: 'Der Empfänger der Webhooks bekommt es nie.',
    },

    history: {
      hint: 'Die 100 zuletzt ersetzten oder gelöschten Dateien des Kontos, oder die eines Namens.',
      show: 'Anzeigen',
      find: 'Genauer Dateiname',
    },

    uploads: {
      title: 'Unvollständige Uploads',
      empty: 'Keine unvollständigen Uploads.',
      states: {
        open: 'unterbrochen',
        receiving: 'empfängt Daten',
        complete: 'empfangen, aber nicht gespeichert',
      },
      discard: 'Verwerfen',
      discardNamed: (name) => `${name} verwerfen`,
      discardTitle: 'Diesen Upload verwerfen?',
      discardText: (bytes) =>
        `Die angekommenen ${bytes} werden gelöscht, und der reservierte Platz wird frei.`,
    },

    grants: {
      title: 'Weitere Gutschriften',
      empty: 'Keine weiteren Gutschriften.',
      add: 'Gutschrift anlegen',
      addAction: 'Anlegen',
      bytes: 'Speicherplatz',
      source: 'Grund',
      usualSource: 'support',
      sourceHint: 'Zum Beispiel promotion, purchase oder support.',
      reference: 'Referenz',
      referenceHint:
        'Zum Beispiel eine Bestellnummer. Eine vorhandene Referenz ändert ihre Gutschrift.',
      end: 'Letzter Tag (optional)',
      endHint: 'Leer: die Gutschrift endet nicht.',
      from: (time) => `ab ${time}`,
      since: (time) => `seit ${time}`,
      until: (time) => `bis ${time}`,
      ended: (time) => `beendet ${time}`,
      forEver: 'ohne Ende',
      revoke: 'Widerrufen',
      revokeNamed: (reference) => `${reference} widerrufen`,
      revokeTitle: 'Diese Gutschrift widerrufen?',
      revokeIdle: 'Diese Gutschrift gilt gerade nicht; der Speicherplatz bleibt gleich.',
    },

    service: {
      title: 'Dienst',
      health: 'Zustand',
      parts: { database: 'Datenbank', object_store: 'Objektspeicher' },
      states: { ok: 'OK', failing: 'Gestört', stopping: 'Wird beendet', unknown: 'Unbekannt' },
      collecting: '…',
      received: 'Empfangen',
      sent: 'Gesendet',
      uploads: 'Uploads pro Minute',
      refusals: 'Ablehnungen pro Minute',
      bytesPerSecond: (value) => `${formatBytes(value)}/s`,
      chart: (title, most) => `${title} im Zeitverlauf, Höchstwert ${most}`,
      ago: (age) => `vor ${age}`,
      now: 'jetzt',
      uploaded: ({ running, bytes }) => `${formatCount(running)} laufen, ${formatBytes(bytes)}`,
      refused: ({ code, count }) => `${formatCount(count)} × ${code}`,
      thisInstance: 'Diese Instanz',
      allInstances: 'Alle Instanzen',
      running: 'Laufende Uploads',
      expected: 'Umfang dieser Uploads',
      garbage: 'Zu entfernende Objekte',
    },
  },

  shortcuts: {
    title: 'Tastenkürzel',
    groups: { list: 'In der Liste', selection: 'Auswahl', everywhere: 'Überall' },
    move: 'Zu einer anderen Datei oder einem anderen Ordner',
    ends: 'Zum Anfang oder zum Ende',
    open: 'Öffnen',
    parent: 'Zum Ordner darüber',
    actions: 'Aktionen anzeigen',
    rename: 'Umbenennen',
    remove: 'Löschen',
    select: 'Auswählen oder abwählen',
    extend: 'Alles bis dorthin auswählen',
    all: 'Alle auswählen',
    end: 'Auswahl beenden oder schließen, was offen ist',
    search: 'Suchen',
    undo: 'Rückgängig machen',
    help: 'Diese Hilfe anzeigen',
    keys: {
      Control: 'Strg',
      Shift: 'Umschalt',
      Enter: 'Eingabe',
      Space: 'Leertaste',
      Backspace: 'Rücktaste',
      Delete: 'Entf',
      Escape: 'Esc',
      Home: 'Pos1',
      End: 'Ende',
      Menu: 'Menü',
    },
    or: 'oder',
  },

  audit: {
    title: 'Protokoll',
    of: (userId) => `Protokoll von ${userId}`,
    empty: 'Noch wurde nichts getan.',
    commandLine: 'Kommandozeile',
    files: (count) => `Dateien: ${formatCount(count)}`,
    share: (size) => `Anteil: ${size}`,
    shares: { all: 'das ganze Konto', own: 'was es beiträgt' },
    actions: {
      'user.create': 'Konto angelegt',
      'user.set_status': 'Status gesetzt',
      'user.delete': 'Konto gelöscht',
      'access_token.issue': 'Zugriffstoken ausgestellt',
      'access_token.revoke': 'Zugriffstoken widerrufen',
      'device.put': 'Gerät hinzugefügt oder geändert',
      'device.remove': 'Gerät entfernt',
      'grant.put': 'Speicherplatz gutgeschrieben',
      'grant.revoke': 'Gutschrift widerrufen',
      'upload.cancel': 'Upload verworfen',
      'files.list': 'Dateien aufgelistet',
      'files.archive': 'Dateien heruntergeladen',
      'file.delete': 'Datei gelöscht',
      'history.restore': 'Datei wiederhergestellt',
      'link.update': 'Link geändert',
      'link.revoke': 'Link widerrufen',
      'webhook.retry': 'Ereignis erneut gesendet',
      'webhook.discard': 'Ereignis verworfen',
      'session.open': 'Betreiber angemeldet',
      'operator.add': 'Betreiber hinzugefügt',
      'operator.remove': 'Betreiber entfernt',
      'session.close': 'Betreiber abgemeldet',
    },
  },

  invalidValue: (parameter) => `Der Wert von „${parameter}“ ist ungültig.`,

  problems: {
    format_error: 'Der Dienst konnte die Anfrage nicht lesen.',
    missing_file_part: 'Die Anfrage enthält keine Datei.',
    multiple_file_parts: 'Die Anfrage enthält mehr als eine Datei.',
    truncated_body: 'Die Anfrage ist unvollständig angekommen.',
    invalid_file_name: 'Dieser Dateiname ist nicht erlaubt.',
    invalid_parameter: 'Eine Angabe ist ungültig.',
    digest_mismatch: 'Die Datei ist beschädigt angekommen.',
    archive_too_large: 'Das Archiv wäre zu groß.',
    access_token_missing: 'Du bist nicht angemeldet.',
    access_token_invalid: 'Das Zugriffstoken ist ungültig.',
    scope_insufficient: 'Dein Zugriffstoken erlaubt das nicht.',
    access_token_limit_exceeded:
      'Die Höchstzahl an Zugriffstoken ist erreicht. Widerrufe zuerst welche.',
    capacity_exceeded: 'Es ist zu wenig Platz.',
    file_count_exceeded: 'Die Höchstzahl an Dateien ist erreicht.',
    link_limit_exceeded: 'Der Link nimmt keine weiteren Dateien an, oder nicht so große.',
    link_count_exceeded: 'Die Höchstzahl an Links ist erreicht. Widerrufe zuerst welche.',
    link_password_invalid: 'Das ist nicht das Passwort des Links.',
    user_suspended: 'Dieses Konto ist gesperrt.',
    cross_site_request: 'Die Anfrage kam von einer anderen Website und wurde abgelehnt.',
    not_found: 'Das gibt es nicht oder nicht mehr.',
    method_not_allowed: 'Der Dienst unterstützt diese Anfrage nicht.',
    request_timeout: 'Die Anfrage hat zu lange gedauert.',
    file_exists: 'Dieser Name ist schon vergeben.',
    precondition_failed: 'Die Datei wurde inzwischen geändert.',
    file_too_large: 'Die Datei ist zu groß.',
    request_head_too_large: 'Die Anfrage ist zu groß.',
    range_not_satisfiable: 'Diesen Teil der Datei gibt es nicht.',
    tus_version_unsupported: 'Der Dienst unterstützt diese Art des Uploads nicht.',
    unsupported_media_type: 'Der Dienst unterstützt diese Art von Daten nicht.',
    offset_mismatch: 'Der Upload ist an einer anderen Stelle als erwartet.',
    upload_gone: 'Diesen Upload gibt es nicht mehr.',
    version_gone: 'Diese Version gibt es nicht mehr.',
    cursor_expired: 'Die Liste ist veraltet. Lade die Seite neu.',
    upload_length_exceeded: 'Es kamen mehr Daten an als angekündigt.',
    upload_busy: 'Diese Datei wird gerade woanders hochgeladen.',
    checksum_mismatch: 'Ein Teil der Datei ist beschädigt angekommen.',
    unfinished_uploads_exceeded: 'Du hast zu viele unvollständige Uploads.',
    too_many_requests: 'Zu viele Anfragen. Versuche es etwas später noch einmal.',
    link_password_required: 'Der Link braucht ein Passwort.',
    internal_error: 'Im Dienst ist ein Fehler aufgetreten.',
    unavailable: 'Der Dienst ist gerade nicht erreichbar. Versuche es etwas später noch einmal.',
    insufficient_storage: 'Dem Dienst fehlt gerade Speicherplatz.',
    invalid_url: 'Die Adresse des Dienstes ist ungültig.',
    connection_lost: 'Die Verbindung zum Dienst ging verloren.',
    unexpected_response: 'Die Antwort kam nicht vom Dienst.',
    file_changed: 'Die Datei wurde währenddessen geändert.',
    outcome_unknown: 'Die Antwort ging verloren. Prüfe, ob die Änderung angekommen ist.',
    upload_superseded: 'Die Datei wurde gespeichert und seitdem ersetzt, umbenannt oder gelöscht.',
  },
}
