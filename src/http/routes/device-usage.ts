import { Bytes, Count, Share, Text, TextOrNull, TimeOrNull } from '../openapi/reply-schemas.ts'
import { Type } from '../openapi/type.ts'

export const DEVICE_MEMBERS = {
  device_id: Text('The device id, unique among the devices of the user.', 'camera-17'),
  label: TextOrNull('The name that people know the device by.', 'Front door'),
  model: TextOrNull('The model of the device, if known.', 'camera-2'),
  bytes: Bytes('Bytes that the device adds to the capacity.', 5_368_709_120),
  share: Share('How much of the account its files may take.', 'own'),
}

/** Of `deviceUsageJson`. */
export const DeviceUsageReply = Type.Object(
  {
    ...DEVICE_MEMBERS,
    used: Bytes('Bytes used by its files.', 6143),
    reserved: Bytes('Bytes reserved by its uploads in progress.', 0),
    file_count: Count('Number of its files.', 1),
    newest_at: TimeOrNull('When one of its files was last written or changed.'),
  },
  { title: 'DeviceUsage' },
)
