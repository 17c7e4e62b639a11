/* Evaluates the expressions of a print format with a record's data. */
#include "tracepoint/event.h"

#include <string.h>

static uint64_t load_number(const uint8_t *p, uint32_t size, bool swap)
{
	uint16_t half;
	switch (size) {
	case 1:
		return *p;
	case 2:
		memcpy(&half, p, sizeof half);
		return swap ? __builtin_bswap16(half) : half;
	case 4:
		return swap ? __builtin_bswap32(load_u32(p)) : load_u32(p);
	case 8:
		return swap ? __builtin_bswap64(load_u64(p)) : load_u64(p);
	default:
		return 0;
	}
}

uint64_t context_number(const struct trace_context *c, uint64_t offset, uint32_t size)
{
	if (size > c->size || offset > c->size - size)
		return 0;
	return load_number(c->data + offset, size, c->layout->swap);
}

struct span context_dynamic(const struct trace_context *c, const struct tracepoint_field *field)
{
	uint64_t word = context_number(c, field->offset, field->size);
	uint64_t offset = word & 0xffff, len = word >> 16 & 0xffff;

	if (field->flags & FIELD_RELATIVE)
		offset += field->offset + field->size;
	if (offset > c->size)
		return (struct span){ c->data, 0 };
	if (field->size == 2 || len > c->size - offset)
		len = field->size == 2 ? c->size - offset : 0;
	return (struct span){ c->data + offset, len };
}

const char *context_printk(const struct trace_context *c, uint64_t address)
{
	size_t low = 0, high = c->layout->printk_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (c->layout->printks[middle].address == address)
			return c->layout->printks[middle].text;
		if (c->layout->printks[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static uint64_t apply_operator(uint8_t operator, uint64_t left, uint64_t right)
{
	switch (operator) {
	case OPERATOR_NOT: return !right;
	case OPERATOR_NE: return left != right;
	case OPERATOR_INVERT: return ~right;
	case OPERATOR_OR: return left | right;
	case OPERATOR_LOGICAL_OR: return left || right;
	case OPERATOR_AND: return left & right;
	case OPERATOR_LOGICAL_AND: return left && right;
	case OPERATOR_LT: return left < right;
	case OPERATOR_SHL: return left << (right & 63);
	case OPERATOR_LE: return left <= right;
	case OPERATOR_GT: return left > right;
	case OPERATOR_SHR: return left >> (right & 63);
	case OPERATOR_GE: return left >= right;
	case OPERATOR_EQ: return left == right;
	case OPERATOR_SUB: return left - right;
	case OPERATOR_ADD: return left + right;
	case OPERATOR_DIV: return right ? left / right : 0;
	case OPERATOR_MOD: return right ? left % right : 0;
	case OPERATOR_MUL: return left * right;
	default: return 0;
	}
}

static uint64_t eval_element(const struct trace_context *c, const struct trace_node *node)
{
	const struct tracepoint_field *field = node->field;
	uint64_t index = context_eval(c, node->right), offset;

	/* libtraceevent indexes dynamic arrays by bytes, other arrays by elements */
	if (node->left->kind == NODE_ARRAY)
		offset = (uint64_t)(context_dynamic(c, field).data - c->data) + index;
	else
		offset = field->offset + index * node->element_size;
	return context_number(c, (uint32_t)offset, node->element_size) & node->mask;
}

uint64_t context_eval(const struct trace_context *c, const struct trace_node *node)
{
	switch (node->kind) {
	case NODE_TEXT:
		return node->value;
	case NODE_FIELD:
		return node->field ? context_number(c, node->field->offset, node->field->size) : 0;
	case NODE_CAST:
		return context_eval(c, node->left) & node->mask;
	case NODE_CHOICE:
		return context_eval(c, context_eval(c, node->left) ? node->right : node->other);
	case NODE_ELEMENT:
		return eval_element(c, node);
	case NODE_OPERATOR:
		return apply_operator(node->operator, context_eval(c, node->left), context_eval(c, node->right));
	case NODE_ARRAY_LENGTH:
		return context_dynamic(c, node->field).len;
	case NODE_ARRAY:
		return (uint64_t)(context_dynamic(c, node->field).data - c->data);
	default:
		return 0;
	}
}
