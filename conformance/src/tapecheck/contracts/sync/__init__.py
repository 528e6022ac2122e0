"""The family sync: no call reads back from the device, counted by interception."""
