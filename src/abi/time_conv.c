#include "abi/time_conv.h"

#include "base/bytes.h"

void time_conv_read(struct time_conv *conv, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	*conv = (struct time_conv){ .shift = take_u64(&c) };
	conv->mult = take_u64(&c);
	conv->zero = take_u64(&c);
	bool known = !c.short_read && conv->shift < 64 && conv->mult;
	if (cursor_left(&c)) { /* since Linux 5.10 */
		conv->cycles = take_u64(&c);
		conv->mask = take_u64(&c);
		known &= take_u8(&c) != 0;
		conv->short_counter = take_u8(&c);
	}
	conv->known = known && !c.short_read;
}

uint64_t time_conv_duration(const struct time_conv *conv, uint64_t ns)
{
	if (!conv->known)
		return 0;
	uint64_t whole = ns / conv->mult, rest = ns % conv->mult;
	return (whole << conv->shift) + (uint64_t)(((unsigned __int128)rest << conv->shift) / conv->mult);
}

uint64_t time_conv_time(const struct time_conv *conv, uint64_t cycles)
{
	if (!conv->known)
		return 0;
	if (conv->short_counter)
		cycles = conv->cycles + ((cycles - conv->cycles) & conv->mask);
	uint64_t whole = cycles >> conv->shift, rest = cycles & (((uint64_t)1 << conv->shift) - 1);
	return conv->zero + whole * conv->mult + (rest * conv->mult >> conv->shift);
}
