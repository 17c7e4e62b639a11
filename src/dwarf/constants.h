/* The constants of DWARF 2 to 5 and of GNU extensions that the reader needs. Source: DWARF 5, section 7. */
#pragma once

enum {
	DW_UT_compile = 1, DW_UT_type, DW_UT_partial, DW_UT_skeleton, DW_UT_split_compile, DW_UT_split_type,
};

enum {
	DW_TAG_array_type = 0x01, DW_TAG_class_type = 0x02, DW_TAG_entry_point = 0x03, DW_TAG_enumeration_type = 0x04,
	DW_TAG_formal_parameter = 0x05, DW_TAG_lexical_block = 0x0b, DW_TAG_member = 0x0d, DW_TAG_pointer_type = 0x0f,
	DW_TAG_reference_type = 0x10, DW_TAG_typedef = 0x16, DW_TAG_inheritance = 0x1c, DW_TAG_module = 0x1e,
	DW_TAG_subrange_type = 0x21, DW_TAG_base_type = 0x24, DW_TAG_const_type = 0x26, DW_TAG_variable = 0x34,
	DW_TAG_volatile_type = 0x35, DW_TAG_restrict_type = 0x37, DW_TAG_namespace = 0x39, DW_TAG_shared_type = 0x40,
	DW_TAG_rvalue_reference_type = 0x42, DW_TAG_atomic_type = 0x47,
	DW_TAG_compile_unit = 0x11, DW_TAG_structure_type = 0x13, DW_TAG_subroutine_type = 0x15, DW_TAG_union_type = 0x17,
	DW_TAG_inlined_subroutine = 0x1d, DW_TAG_subprogram = 0x2e, DW_TAG_partial_unit = 0x3c,
	DW_TAG_interface_type = 0x38, DW_TAG_call_site = 0x48, DW_TAG_skeleton_unit = 0x4a, DW_TAG_GNU_call_site = 0x4109,
	DW_TAG_GNU_formal_parameter_pack = 0x4108, DW_TAG_GNU_template_parameter_pack = 0x4107,
};

enum {
	DW_AT_sibling = 0x01, DW_AT_name = 0x03, DW_AT_stmt_list = 0x10, DW_AT_low_pc = 0x11, DW_AT_high_pc = 0x12,
	DW_AT_language = 0x13, DW_AT_comp_dir = 0x1b, DW_AT_abstract_origin = 0x31, DW_AT_specification = 0x47,
	DW_AT_ranges = 0x55, DW_AT_call_file = 0x58, DW_AT_call_line = 0x59, DW_AT_call_column = 0x57,
	DW_AT_linkage_name = 0x6e, DW_AT_str_offsets_base = 0x72, DW_AT_addr_base = 0x73, DW_AT_rnglists_base = 0x74,
	DW_AT_dwo_name = 0x76, DW_AT_MIPS_linkage_name = 0x2007, DW_AT_GNU_dwo_name = 0x2130, DW_AT_GNU_dwo_id = 0x2131,
	DW_AT_location = 0x02, DW_AT_byte_size = 0x0b, DW_AT_bit_offset = 0x0c, DW_AT_bit_size = 0x0d, DW_AT_const_value = 0x1c,
	DW_AT_inline = 0x20, DW_AT_producer = 0x25, DW_AT_upper_bound = 0x2f, DW_AT_count = 0x37,
	DW_AT_data_member_location = 0x38, DW_AT_decl_file = 0x3a, DW_AT_decl_line = 0x3b, DW_AT_declaration = 0x3c,
	DW_AT_encoding = 0x3e, DW_AT_external = 0x3f, DW_AT_frame_base = 0x40, DW_AT_type = 0x49, DW_AT_entry_pc = 0x52,
	DW_AT_data_bit_offset = 0x6b, DW_AT_signature = 0x69, DW_AT_loclists_base = 0x8c, DW_AT_APPLE_optimized = 0x3fe1,
	DW_AT_GNU_ranges_base = 0x2132, DW_AT_GNU_addr_base = 0x2133, DW_AT_GNU_discriminator = 0x2136,
};

enum {
	DW_FORM_addr = 0x01, DW_FORM_block2 = 0x03, DW_FORM_block4, DW_FORM_data2, DW_FORM_data4, DW_FORM_data8, DW_FORM_string,
	DW_FORM_block, DW_FORM_block1, DW_FORM_data1, DW_FORM_flag, DW_FORM_sdata, DW_FORM_strp, DW_FORM_udata, DW_FORM_ref_addr,
	DW_FORM_ref1, DW_FORM_ref2, DW_FORM_ref4, DW_FORM_ref8, DW_FORM_ref_udata, DW_FORM_indirect, DW_FORM_sec_offset,
	DW_FORM_exprloc, DW_FORM_flag_present, DW_FORM_strx, DW_FORM_addrx, DW_FORM_ref_sup4, DW_FORM_strp_sup, DW_FORM_data16,
	DW_FORM_line_strp, DW_FORM_ref_sig8, DW_FORM_implicit_const, DW_FORM_loclistx, DW_FORM_rnglistx, DW_FORM_ref_sup8,
	DW_FORM_strx1, DW_FORM_strx2, DW_FORM_strx3, DW_FORM_strx4, DW_FORM_addrx1, DW_FORM_addrx2, DW_FORM_addrx3, DW_FORM_addrx4,
	DW_FORM_GNU_addr_index = 0x1f01, DW_FORM_GNU_str_index = 0x1f02, DW_FORM_GNU_ref_alt = 0x1f20, DW_FORM_GNU_strp_alt = 0x1f21,
};

enum {
	DW_RLE_end_of_list, DW_RLE_base_addressx, DW_RLE_startx_endx, DW_RLE_startx_length, DW_RLE_offset_pair,
	DW_RLE_base_address, DW_RLE_start_end, DW_RLE_start_length,
};

enum {
	DW_LLE_end_of_list, DW_LLE_base_addressx, DW_LLE_startx_endx, DW_LLE_startx_length, DW_LLE_offset_pair,
	DW_LLE_default_location, DW_LLE_base_address, DW_LLE_start_end, DW_LLE_start_length, DW_LLE_GNU_view_pair,
};

/* .debug_loc.dwo before DWARF 5 */
enum { DW_LLE_GNU_end_of_list, DW_LLE_GNU_base_address_selection, DW_LLE_GNU_start_end, DW_LLE_GNU_start_length };

enum {
	DW_OP_addr = 0x03, DW_OP_deref = 0x06, DW_OP_const1u = 0x08, DW_OP_const1s, DW_OP_const2u, DW_OP_const2s, DW_OP_const4u,
	DW_OP_const4s, DW_OP_const8u, DW_OP_const8s, DW_OP_constu, DW_OP_consts, DW_OP_pick = 0x15, DW_OP_plus = 0x22, DW_OP_plus_uconst = 0x23,
	DW_OP_bra = 0x28, DW_OP_skip = 0x2f, DW_OP_lit0 = 0x30, DW_OP_lit31 = 0x4f, DW_OP_reg0 = 0x50, DW_OP_reg31 = 0x6f,
	DW_OP_breg0 = 0x70, DW_OP_breg31 = 0x8f, DW_OP_regx = 0x90, DW_OP_fbreg, DW_OP_bregx, DW_OP_piece, DW_OP_deref_size,
	DW_OP_call_frame_cfa = 0x9c, DW_OP_bit_piece, DW_OP_implicit_value, DW_OP_stack_value, DW_OP_implicit_pointer, DW_OP_addrx,
	DW_OP_entry_value = 0xa3, DW_OP_GNU_entry_value = 0xf3, DW_OP_GNU_addr_index = 0xfb,
};

enum { DW_ATE_signed = 0x05, DW_ATE_signed_char = 0x06, DW_ATE_signed_fixed = 0x0d };

enum {
	DW_LNS_copy = 1, DW_LNS_advance_pc, DW_LNS_advance_line, DW_LNS_set_file, DW_LNS_set_column, DW_LNS_negate_stmt,
	DW_LNS_set_basic_block, DW_LNS_const_add_pc, DW_LNS_fixed_advance_pc, DW_LNS_set_prologue_end,
};

enum { DW_LNE_end_sequence = 1, DW_LNE_set_address, DW_LNE_define_file, DW_LNE_set_discriminator };

enum { DW_LNCT_path = 1, DW_LNCT_directory_index };

/* Languages whose functions are named by DW_AT_name: it equals the symbol, or (Pascal) is the better name. */
enum {
	DW_LANG_C89 = 0x01, DW_LANG_C = 0x02, DW_LANG_Cobol74 = 0x05, DW_LANG_Cobol85 = 0x06,
	DW_LANG_Pascal83 = 0x09, DW_LANG_C99 = 0x0c, DW_LANG_PLI = 0x0f,
	DW_LANG_UPC = 0x12, DW_LANG_C11 = 0x1d, DW_LANG_C17 = 0x2c, DW_LANG_Mips_Assembler = 0x8001, DW_LANG_Upc = 0x8765,
	DW_LANG_HP_Basic91 = 0x8004, DW_LANG_HP_IMacro = 0x8006, DW_LANG_HP_Assembler = 0x8007,
};

/* Sections of a unit in .debug_cu_index: version 2 (GNU) and version 5. */
enum {
	DW_SECT_INFO = 1, DW_SECT_TYPES = 2, DW_SECT_ABBREV = 3, DW_SECT_LINE = 4, DW_SECT_LOC = 5, DW_SECT_STR_OFFSETS = 6,
	DW_SECT_MACINFO_OR_MACRO = 7, DW_SECT_MACRO_OR_RNGLISTS = 8,
};
